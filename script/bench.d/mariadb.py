"""MariaDB as the base of likes, and the load it gets: relations with their unique key and by-item
index, and the counts of items, 1000 rows a statement, both statements one transaction.

It is given what helps it: memory for everything, no binary log, no sync at a commit, a Unix socket,
names as numbers, rows sorted by key, statements written out before the clock starts."""

import os
import random
import signal
import subprocess
import threading
import time

import MySQLdb

import rig

ROWS = 1000
BATCHES_A_SECOND = 120        # prepared; more than it takes
SETTINGS = ["--innodb-buffer-pool-size=2G", "--innodb-log-file-size=1G",
            "--innodb-flush-log-at-trx-commit=1", "--innodb-autoinc-lock-mode=2", "--skip-log-bin"]
TABLES = """
CREATE TABLE relation (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user BIGINT UNSIGNED NOT NULL, kind SMALLINT UNSIGNED NOT NULL,
    item BIGINT UNSIGNED NOT NULL, time BIGINT UNSIGNED NOT NULL,
    UNIQUE KEY by_user (user, kind, item), KEY by_item (item, kind, time, user)) ENGINE=InnoDB;
CREATE TABLE count (
    item BIGINT UNSIGNED NOT NULL, name SMALLINT UNSIGNED NOT NULL, value BIGINT NOT NULL,
    PRIMARY KEY (item, name)) ENGINE=InnoDB
"""
DEADLOCK = 1213


class MariaDB(rig.Server):
    def __init__(self):
        super().__init__("mariadb", self.argv, pin=False)
        self.socket = os.path.join(self.directory, "socket")
        self.data = os.path.join(self.directory, "data")

    @staticmethod
    def user():
        return ["--user=root"] if os.geteuid() == 0 else []

    def argv(self, _port, _directory):
        return ["mariadbd", "--no-defaults", f"--datadir={self.data}", f"--socket={self.socket}",
                "--skip-networking", *self.user(), *SETTINGS]

    def install(self):
        """The installer is a script with children: interrupted, its whole group must go."""
        installer = subprocess.Popen(
            ["mariadb-install-db", "--no-defaults", f"--datadir={self.data}", *self.user(),
             "--auth-root-authentication-method=normal", "--skip-test-db"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said, _ = installer.communicate()
        except BaseException:
            os.killpg(installer.pid, signal.SIGKILL)
            installer.wait()
            raise
        if installer.returncode != 0:
            raise rig.Failure(f"mariadb-install-db failed: {said[-300:]}")

    def start(self):
        if not os.path.exists(self.data):
            self.install()
        super().start()

    def connect(self, database=""):
        return MySQLdb.connect(unix_socket=self.socket, user="root", db=database)

    def is_ready(self):
        try:
            self.connect().close()
            return True
        except MySQLdb.Error:
            return False

    def make_tables(self):
        connection = self.connect()
        cursor = connection.cursor()
        cursor.execute("DROP DATABASE IF EXISTS laud")
        cursor.execute("CREATE DATABASE laud")
        cursor.execute("USE laud")
        for statement in TABLES.split(";"):
            cursor.execute(statement)
        connection.close()

    def count_rows(self):
        connection = self.connect("laud")
        cursor = connection.cursor()
        cursor.execute("SELECT (SELECT COUNT(*) FROM relation), (SELECT SUM(value) FROM count)")
        relations, likes = cursor.fetchone()
        connection.close()
        return int(relations), int(likes or 0)


def transactions(count, base, users, items):
    """Pairs of statements: 1000 likes of random users and items, and what they add to the items."""
    draw = random.Random(1).randrange
    made = []
    for number in range(count):
        likes = sorted((base + draw(users), base + draw(items)) for _ in range(ROWS))
        sums = {}
        for _, item in likes:
            sums[item] = sums.get(item, 0) + 1
        time_ms = 1700000000000 + number
        made.append((
            ("INSERT IGNORE INTO relation (user, kind, item, time) VALUES " +
             ",".join(f"({user},1,{item},{time_ms})" for user, item in likes)).encode(),
            ("INSERT INTO count (item, name, value) VALUES " +
             ",".join(f"({item},1,{sums[item]})" for item in sorted(sums)) +
             " ON DUPLICATE KEY UPDATE value = value + VALUES(value)").encode()))
    return made


class Client(threading.Thread):
    """One connection that works through its transactions until the time is over."""

    def __init__(self, server, work, until):
        super().__init__()
        self.connection = server.connect("laud")
        self.work = work
        self.until = until
        self.rows = 0
        self.deadlocks = 0
        self.problem = None

    def transact(self, pair):
        cursor = self.connection.cursor()
        while True:
            try:
                for statement in pair:
                    cursor.execute(statement)
                self.connection.commit()
                return
            except MySQLdb.OperationalError as problem:
                if problem.args[0] != DEADLOCK:
                    raise
                self.connection.rollback()
                self.deadlocks += 1

    def run(self):
        try:
            for pair in self.work:
                if time.monotonic() >= self.until:
                    break
                self.transact(pair)
                self.rows += ROWS
        except MySQLdb.Error as problem:
            self.problem = problem
        finally:
            self.connection.close()


def run(server, work, connections, seconds):
    """Rows a second into fresh tables, and how many cores either side used."""
    server.make_tables()
    begun, cpu, own = time.monotonic(), server.cpu_seconds(), time.process_time()
    clients = [Client(server, work[i::connections], begun + seconds) for i in range(connections)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    elapsed = time.monotonic() - begun
    server_cores = (server.cpu_seconds() - cpu) / elapsed
    client_cores = (time.process_time() - own) / elapsed
    for client in clients:
        if client.problem is not None:
            raise rig.Failure(f"mariadb: {client.problem}")
    rows = sum(client.rows for client in clients)
    relations, likes = server.count_rows()
    # A few draws come twice: they are one relation, counted twice.
    if likes != rows or not rows * 0.999 <= relations <= rows:
        raise rig.Failure(f"mariadb has {relations} relations and counts {likes} after {rows} likes")
    return {"rate": rows / elapsed, "rows": rows, "seconds": elapsed, "server_cores": server_cores,
            "client_cores": client_cores, "deadlocks": sum(client.deadlocks for client in clients)}


def version():
    words = rig.first_line(["mariadbd", "--version"]).split()
    return words[2].partition("-")[0] if len(words) > 2 else "unknown"
