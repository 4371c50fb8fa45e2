// Loaded before Waline (node --require): it listens on loopback only, and asks no other server for anything. For each
// request it would ask a server for its list of ways to log in; the list is empty. It has no settings for these.
const net = require("node:net");

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  if (typeof args[0] === "object" && args[0] !== null && "port" in args[0]) {
    args[0] = { ...args[0], host: "127.0.0.1" };
  } else if (/^\d+$/.test(String(args[0]))) {
    const rest = args.slice(1).filter((arg) => typeof arg === "function");
    args = [{ port: Number(args[0]), host: "127.0.0.1" }, ...rest];
  }
  return listen.apply(this, args);
};

globalThis.fetch = async () => Response.json({ services: [] });
