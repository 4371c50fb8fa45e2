"""Waline, a system of comments that people install, on MariaDB: what its list of comments costs. Limits and calls of
other servers are switched off. It is installed by npm when it is needed, and kept in build/waline."""

import os
import shutil
import subprocess
import urllib.error
import urllib.request

import mariadb
import rig

PACKAGE = "@waline/vercel@1.39.3"
INSTALL_SECONDS = 900
LOCAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waline_local.js")
# Only the columns that it reads and writes; as in its own schema, there is no index for the order by likes.
TABLES = """
CREATE TABLE wl_Comment (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id INT DEFAULT NULL, comment TEXT,
    insertedAt TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, ip VARCHAR(100) DEFAULT '', link VARCHAR(255) DEFAULT NULL,
    mail VARCHAR(255) DEFAULT NULL, nick VARCHAR(255) DEFAULT NULL, pid INT DEFAULT NULL, rid INT DEFAULT NULL,
    sticky TINYINT DEFAULT NULL, status VARCHAR(50) NOT NULL DEFAULT '', `like` INT DEFAULT NULL, ua TEXT,
    url VARCHAR(255) DEFAULT NULL, createdAt TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updatedAt TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, KEY url (url)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE wl_Users (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, display_name VARCHAR(255) NOT NULL DEFAULT '',
    email VARCHAR(255) NOT NULL DEFAULT '', password VARCHAR(255) NOT NULL DEFAULT '', type VARCHAR(50) NOT NULL DEFAULT '',
    label VARCHAR(255) DEFAULT NULL, url VARCHAR(255) DEFAULT NULL, avatar VARCHAR(255) DEFAULT NULL,
    github VARCHAR(255) DEFAULT NULL, `2fa` VARCHAR(32) DEFAULT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
"""


class Base(mariadb.MariaDB):
    """MariaDB on a port of its own, with Waline's tables."""

    def argv(self, port, directory):
        return [word for word in super().argv(port, directory) if word != "--skip-networking"] + [
            f"--port={port}", "--bind-address=127.0.0.1"]

    def make(self, subjects, roots, replies, text):
        """Each subject has roots with replies; the first roots have the most likes."""
        connection = self.connect()
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE waline")
        cursor.execute("CREATE USER 'waline'@'%' IDENTIFIED BY 'waline'")
        cursor.execute("GRANT ALL ON waline.* TO 'waline'@'%'")
        cursor.execute("USE waline")
        for statement in TABLES.split(";"):
            cursor.execute(statement)
        number = 0
        for subject in range(subjects):
            rows = []
            for root in range(roots):
                number += 1
                own = number
                rows.append((own, text, f"user {root}", None, None, 2 * (roots - root), f"/p{subject}"))
                for _ in range(replies):
                    number += 1
                    rows.append((number, text, "another", own, own, 0, f"/p{subject}"))
            cursor.executemany("INSERT INTO wl_Comment (id, comment, nick, pid, rid, `like`, url, status, ip, ua, mail) "
                               "VALUES (%s, %s, %s, %s, %s, %s, %s, 'approved', '127.0.0.1', '', '')", rows)
        connection.commit()
        connection.close()


def installed():
    """The directory with Waline in it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise rig.Failure("Waline needs node and npm, which are not there")
    directory = os.path.abspath("build/waline")
    program = os.path.join(directory, "node_modules", "@waline", "vercel", "vanilla.js")
    if not os.path.exists(program):
        rig.say("  installing Waline")
        os.makedirs(directory, exist_ok=True)
        try:
            done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE],
                                  cwd=directory, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            raise rig.Failure("Waline could not be installed in time") from None
        if done.returncode != 0 or not os.path.exists(program):
            raise rig.Failure(f"Waline could not be installed: {done.stderr.strip()[-200:]}")
    return program


class Waline(rig.Server):
    """The server itself. It and its database have the whole machine."""

    def __init__(self, base):
        program = installed()
        super().__init__("waline", lambda port, directory: [
            "env", "MYSQL_HOST=127.0.0.1", f"MYSQL_PORT={base.port}", "MYSQL_DB=waline", "MYSQL_USER=waline",
            "MYSQL_PASSWORD=waline", "JWT_TOKEN=benchmark", "AKISMET_KEY=false", "IPQPS=0", "DISABLE_USERAGENT=true",
            "DISABLE_REGION=true", "NODE_ENV=production", "node", "--require", LOCAL, program, str(port)], pin=False)
        self.base = base

    def path(self, subject):
        return f"/api/comment?path=/p{subject}&pageSize=20&page=1&sortBy=like_desc"

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.path(0)}", timeout=10) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def workers(self):
        """The pids of its own children, which do the work."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            return [int(pid) for pid in children.read().split()]

    def cpu_seconds(self):
        return (super().cpu_seconds() + self.base.cpu_seconds() +
                sum(rig.cpu_seconds(pid) for pid in self.workers()))
