"""nginx with deploy/nginx.conf in front of a server: its own file, with ports and paths of a test in
the place of those of a machine."""
import atexit
import os
import shutil
import signal
import socket
import ssl
import subprocess

import http_raw
import laud
from laud import Skip, expect, wait_until

TEMPORARY = "".join(f"    {kind}_temp_path @/{kind};\n"
                    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))


def free_ports():
    """Two different ones; somebody else may still be faster with them."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


class Nginx:
    """Runs while it is a context. http_port and resp_port: where it listens, with TLS."""

    def __init__(self, laud_http_port, laud_resp_port):
        self.program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
        if not self.program:
            raise Skip("there is no nginx")
        self.own = laud.temporary_directory()
        self.http_port = self.resp_port = None
        self.upstreams = laud_http_port, laud_resp_port
        self.process = None
        atexit.register(self.stop)

    def __enter__(self):
        self.make_certificate()
        while not self.start():
            self.process = None
        return self

    def start(self):
        """False if one of the ports was taken."""
        self.http_port, self.resp_port = free_ports()
        self.write_configuration()
        with open(self.path("said"), "wb") as said:
            self.process = subprocess.Popen([self.program, "-c", self.path("nginx.conf"),
                                             "-g", "daemon off;"], stdin=subprocess.DEVNULL, stdout=said,
                                            stderr=said, preexec_fn=laud.die_with_parent)
        wait_until(lambda: self.process.poll() is not None or self.listens(), "nginx listens")
        with open(self.path("said"), encoding="utf-8") as file:
            said = file.read()
        expect(self.process.poll() is None or "Address already in use" in said,
               "nginx did not start:", said)
        return self.process.poll() is None

    def __exit__(self, *unused):
        self.stop()

    def path(self, name):
        return os.path.join(self.own, name)

    def make_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=laud.example", "-addext", "subjectAltName=DNS:laud.example", "-keyout",
                        self.path("key.pem"), "-out", self.path("certificate.pem")],
                       capture_output=True, check=True)

    def write_configuration(self):
        with open(os.path.join(laud.ROOT, "deploy/nginx.conf"), encoding="utf-8") as file:
            text = file.read()
        for old, new in (
                ("user www-data;", "user root;" if os.geteuid() == 0 else ""),
                ("worker_processes auto;", "worker_processes 2;"),
                ("pid /run/", "pid @/"), ("/var/log/nginx/", "@/"), ("/etc/ssl/laud/", "@/"),
                ("\nhttp {\n", "\nhttp {\n" + TEMPORARY),
                ("listen 443 ", f"listen 127.0.0.1:{self.http_port} "),
                ("listen [::]:443 ", f"listen {self.second_address()}:{self.http_port} "),
                ("listen 5293 ", f"listen 127.0.0.1:{self.resp_port} "),
                ("server 127.0.0.1:5284;", f"server 127.0.0.1:{self.upstreams[0]};"),
                ("proxy_pass 127.0.0.1:5283;", f"proxy_pass 127.0.0.1:{self.upstreams[1]};")):
            expect(old in text, f"deploy/nginx.conf has no {old!r}")
            text = text.replace(old, new)
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(text.replace("@/", self.own + "/"))

    def second_address(self):
        """That of IPv6; of a machine without it, another of loopback."""
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", self.http_port))
                return "[::1]"
        except OSError:
            return "127.0.0.9"

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.http_port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(laud.WAIT_SECONDS)
            self.process = None

    def wrap(self, plain):
        context = ssl.create_default_context(cafile=self.path("certificate.pem"))
        return context.wrap_socket(plain, server_hostname="laud.example")

    def http(self, source="127.0.0.1"):
        return Https(self, source)

    def resp(self):
        """A RESP connection through TLS."""
        connection = laud.Connection(self.resp_port)
        connection.file.close()
        connection.socket = self.wrap(connection.socket)
        connection.file = connection.socket.makefile("rb", 65536)
        return connection


class Https(http_raw.Raw):
    """http_raw.Raw through TLS, from an address of loopback."""

    def __init__(self, nginx, source):
        plain = socket.create_connection(("127.0.0.1", nginx.http_port), laud.REPLY_SECONDS, (source, 0))
        self.socket = nginx.wrap(plain)
        self.file = self.socket.makefile("rb", 65536)
