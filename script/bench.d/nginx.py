"""nginx as the peer of HTTP: one worker that answers one small static file from its cache of open
files, writes no log and never ends a connection. A file this small is faster without sendfile: head
and body go out in one write."""

import os
import re

import rig

CONFIG = """
daemon off;
worker_processes 1;
error_log stderr error;
pid {directory}/pid;
{user}
events {{
    worker_connections 1024;
    use epoll;
    multi_accept on;
}}
http {{
    access_log off;
    default_type application/json;
    sendfile off;
    tcp_nodelay on;
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    open_file_cache max=1000 inactive=1h;
    open_file_cache_valid 1h;
    etag off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root {directory}/root;
    }}
}}
"""


class Nginx(rig.Server):
    """Serves `body` at `path`, and nothing else."""

    def __init__(self, path, body):
        super().__init__("nginx", self.argv)
        self.path = path
        self.body = body

    def argv(self, port, directory):
        file = os.path.join(directory, "root", self.path.lstrip("/"))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as out:
            out.write(self.body)
        config = os.path.join(directory, "nginx.conf")
        with open(config, "w") as out:
            out.write(CONFIG.format(directory=directory, port=port,
                                    user="user root;" if os.geteuid() == 0 else ""))
        return ["nginx", "-p", directory, "-c", config]

    @property
    def http_port(self):
        return self.port

    def is_ready(self):
        try:
            return rig.http(self, "GET", self.path) == self.body
        except OSError:
            return False

    def cpu_seconds(self):
        """Of the worker: the first process only watches over it."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path) as children:
            return sum(map(rig.cpu_seconds, map(int, children.read().split())))


def version():
    return re.sub(r".*nginx/(\S+).*", r"\1", rig.first_line(["sh", "-c", "nginx -v 2>&1"]))
