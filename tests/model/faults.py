"""The faults, and how often they strike. A fault may strike between any two engine calls."""
import user_side

FAULTS = {
    "failover": "a replica becomes the primary with what it has, which may be less than the primary had",
    "two-replicas": "failover, and every primary has two replicas; the staler one may be elected",
    "stall": "a role stands still for up to 800 steps between two calls and then goes on",
    "kill": "a role is killed between two calls and starts again from nothing",
    "unknown": "the reply to a client is lost after the call ran",
    "late": "a caller gives a call up; the call runs up to 1,200 steps later, or never",
    "migrate": "the slot of a partition is migrated to another primary, key by key",
    "p-lost": "a user partition is lost with all its replicas",
    "q-lost": "an item partition is lost with all its replicas",
    "p-older-file": "the primary of a user partition restarts from an older append-only file",
    "q-older-file": "the primary of an item partition restarts from an older append-only file",
    "p-restore": "the database of a user partition is restored from a backup",
    "q-restore": "the database of an item partition is restored from a backup",
    "p-restore-older-file": "p-restore and p-older-file, often at the same time",
    "q-restore-older-file": "q-restore and q-older-file, often at the same time",
}
LIGHT = ("failover", "stall", "kill", "unknown", "late")    # these always accompany the faults below
HEAVY = tuple(FAULTS)[6:]


def with_light(names):
    """The faults of a schedule: a heavy fault strikes a system that suffers the light ones anyway."""
    chosen = set(names)
    if chosen & set(HEAVY):
        chosen.update(LIGHT)
    return frozenset(chosen)


class Faults:
    """Injects the faults of one schedule."""

    def __init__(self, world):
        self.world, faults = world, world.faults
        self.failover_rate = 0.01 if faults & {"failover", "two-replicas"} else 0
        self.nodes = world.user_nodes + world.item_nodes
        self.heavy = [f for f in ("p-lost", "q-lost", "p-older-file", "q-older-file") if f in faults]
        self.correlated = [side for side in "pq" if side + "-restore-older-file" in faults]
        self.heavy += [side + "-older-file" for side in self.correlated]
        self.migrates = "migrate" in faults
        world.backups = []

    def freeze_one(self):
        """Stalls often strike together with a heavy fault: one role wakes up after it with what it knew before."""
        world = self.world
        if "stall" in world.faults and world.random() < 0.7:
            world.stalled[world.below(len(world.stalled))] = world.now + 200 + world.below(1000)

    def strike(self):
        """Called at every step."""
        world = self.world
        x = world.random()
        if x < 0.075:
            if x < self.failover_rate:
                self.nodes[world.below(len(self.nodes))].failover()
            elif 0.01 < x < 0.04:
                self.nodes[world.below(len(self.nodes))].replicate()
            elif 0.04 < x < 0.07:
                self.keep_copies()
            elif x > 0.073 and self.heavy:
                self.strike_heavily(self.heavy[world.below(len(self.heavy))])
        if self.migrates:
            self.migrate()
        if self.correlated and world.restoring:
            # More often before the stream is pinned, where the restore has to notice it.
            if world.random() < (0.02 if None in world.restoring.values() else 0.01 if world.many_restarts else 0.005):
                self.restart_while_restoring()

    def keep_copies(self):
        """Keeps an append-only file of one primary, and a backup of one database."""
        world = self.world
        node = self.nodes[world.below(len(self.nodes))]
        if "gen" in node.keys:
            node.files = (node.files + [node.keys.copy()])[-4:]
        side = "pq"[world.below(2)]
        databases = world.user_dbs if side == "p" else world.item_dbs
        index = world.below(len(databases))
        if databases[index].up:
            world.backups = (world.backups + [(side, index, databases[index].data.copy())])[-12:]

    def migrate(self):
        """One step in ten transfers a key of each slot that is being migrated; now and then another one begins."""
        x = self.world.random()
        if x < 0.1:
            for node in self.nodes:
                if node.moved is not None:
                    node.migrate_one_key()
        elif x < 0.104:
            node = self.nodes[self.world.below(len(self.nodes))]
            if node.moved is None and node.keys.get("open"):
                node.moved = set()

    def restart_while_restoring(self):
        world = self.world
        side, index = list(world.restoring)[world.below(len(world.restoring))]
        if side in self.correlated and (side == "p" or (side, index) not in world.older_file):
            self.strike_partition(side + "-older-file", index)

    def strike_heavily(self, fault):
        self.strike_partition(fault, self.world.below(2))

    def strike_partition(self, fault, index):
        world = self.world
        side = fault[0]
        node = (world.user_nodes if side == "p" else world.item_nodes)[index]
        db = (world.user_dbs if side == "p" else world.item_dbs)[index]
        if not node.keys.get("open") or node.keys["gen"] != db.data["gen"]:
            return      # a recovery is under way
        if side == "q" and not self.streams_reach(index):
            return
        if fault.endswith("lost"):
            node.become({})
        elif node.files:
            node.become(node.files[world.below(len(node.files))])
            world.older_file.add((side, index))
        else:
            return
        self.freeze_one()
        if side == "p":
            world.history.forget_user_side(index)
        else:
            world.history.forget_item_side(index, db.data["ledger"])
        world.injected[fault] = world.injected.get(fault, 0) + 1

    def streams_reach(self, q):
        """Does every J hold what the store of q has? Beyond that, q can only be rebuilt from relation by reconcile."""
        world = self.world
        stored = [world.item_dbs[q].data["guards"]]
        if world.restoring.get(("q", q)):
            stored.append(world.restoring["q", q]["guards"])
        for p, node in enumerate(world.user_nodes):
            if not node.keys.get("open"):
                return False
            view = user_side.read_view(world, node.keys)
            if any(user_side.entries_after(world.rules, view, q, guards[p]) is None for guards in stored):
                return False
        return True

    def calm(self):
        """No more faults: migrations end."""
        for node in self.nodes:
            if node.moved is not None:
                node.end_migration()
