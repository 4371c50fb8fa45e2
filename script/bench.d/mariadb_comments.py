"""MariaDB as a system of comments, well built: tables of subjects, of the index of comments and of their contents; a
post is one transaction that writes to each of them. It is given what helps it: memory for everything, no binary log,
a Unix socket, ids that grow, subjects that exist already, prepared statements, and one round trip a post.

mariadb_posts.c is the load. It is compiled when it is needed."""

import json
import os
import subprocess

import mariadb
import rig

TABLES = """
CREATE TABLE comment_subject (
    item BIGINT UNSIGNED NOT NULL PRIMARY KEY, owner BIGINT UNSIGNED NOT NULL DEFAULT 0,
    state TINYINT UNSIGNED NOT NULL DEFAULT 0, floors INT UNSIGNED NOT NULL DEFAULT 0,
    roots INT UNSIGNED NOT NULL DEFAULT 0, comments INT UNSIGNED NOT NULL DEFAULT 0,
    updated BIGINT UNSIGNED NOT NULL DEFAULT 0) ENGINE=InnoDB;
CREATE TABLE comment_index (
    id BIGINT UNSIGNED NOT NULL PRIMARY KEY, item BIGINT UNSIGNED NOT NULL,
    member BIGINT UNSIGNED NOT NULL, root BIGINT UNSIGNED NOT NULL, parent BIGINT UNSIGNED NOT NULL,
    floor INT UNSIGNED NOT NULL, replies INT UNSIGNED NOT NULL DEFAULT 0,
    likes INT UNSIGNED NOT NULL DEFAULT 0, dislikes INT UNSIGNED NOT NULL DEFAULT 0,
    state TINYINT UNSIGNED NOT NULL, created BIGINT UNSIGNED NOT NULL,
    KEY by_floor (item, root, floor), KEY by_likes (item, root, likes)) ENGINE=InnoDB;
CREATE TABLE comment_content (
    id BIGINT UNSIGNED NOT NULL PRIMARY KEY, message VARBINARY(10000) NOT NULL,
    created BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB
"""


def compile_posts(directory):
    """The program of the load, which is made in this directory."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mariadb_posts.c")
    program = os.path.join(directory, "mariadb_posts")
    try:
        done = subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source],
                              capture_output=True, text=True)
    except OSError as problem:
        raise rig.Failure(f"there is no C compiler: {problem}") from None
    if done.returncode != 0:
        raise rig.Failure(f"mariadb_posts.c does not compile: {done.stderr.strip()[-300:]}")
    return program


class Comments(mariadb.MariaDB):
    def make_subjects(self, subjects):
        connection = self.connect()
        cursor = connection.cursor()
        cursor.execute("DROP DATABASE IF EXISTS laud")
        cursor.execute("CREATE DATABASE laud")
        cursor.execute("USE laud")
        for statement in TABLES.split(";"):
            cursor.execute(statement)
        for first in range(0, subjects, 10000):
            cursor.execute("INSERT INTO comment_subject (item) VALUES " + ",".join(
                f"({item})" for item in range(first, min(first + 10000, subjects))))
        connection.commit()
        connection.close()

    def count(self):
        """How many comments each table has."""
        connection = self.connect("laud")
        cursor = connection.cursor()
        cursor.execute("SELECT (SELECT SUM(comments) FROM comment_subject), (SELECT COUNT(*) FROM comment_index), "
                       "(SELECT COUNT(*) FROM comment_content)")
        counts = [int(value or 0) for value in cursor.fetchone()]
        connection.close()
        return counts

    def post(self, connections, seconds, subjects, text_bytes):
        """Posts into fresh tables; as a run of `laud bench`, with the processor time of the server."""
        self.make_subjects(subjects)
        program = compile_posts(self.directory)
        before = self.cpu_seconds()
        run = json.loads(rig.run_load([program, self.socket, str(connections), str(seconds), str(subjects),
                                       str(text_bytes)], self.pin))
        run["server_us"] = (self.cpu_seconds() - before) / run["requests"] * 1e6
        if self.count() != [run["requests"]] * 3:
            raise rig.Failure(f"mariadb has {self.count()} comments after {run['requests']} posts")
        return run
