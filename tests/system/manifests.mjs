// Checks deploy/k8s and deploy/compose.yaml, for test_docker. Every object of Kubernetes is validated against the
// schema of its kind; the compose file has no such check here, so only what it names is compared.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { parse, parseAllDocuments } from "yaml";

const require = createRequire(import.meta.url);
const deploy = new URL("../../deploy/", import.meta.url);
const read = (name) => readFile(new URL(name, deploy), "utf8");

/** The class of a kind: apps/v1 StatefulSet is kubernetes-models/apps/v1. */
function model({ apiVersion, kind }) {
  const found = require(`kubernetes-models/${apiVersion}`)[kind];
  assert.ok(found, `${apiVersion} has no ${kind}`);
  return found;
}

const names = (await readdir(new URL("k8s/", deploy))).filter((name) => name.endsWith(".yaml"));
assert.ok(names.length > 0);
const objects = [];
for (const name of names) {
  for (const document of parseAllDocuments(await read(`k8s/${name}`), { version: "1.1" })) {
    assert.deepEqual(document.errors, [], name);
    const object = document.toJS();
    new (model(object))(object).validate();
    objects.push(object);
  }
}
assert.throws(() => {
  const wrong = structuredClone(objects.find(({ kind }) => kind === "StatefulSet"));
  wrong.spec.replicas = "one";
  new (model(wrong))(wrong).validate();
}, "a wrong object must be refused");

const found = (kind) => objects.find((object) => object.kind === kind);
const pod = found("StatefulSet").spec.template;
const [container] = pod.spec.containers;
for (const kind of ["Service", "PodDisruptionBudget", "StatefulSet"]) {
  const { selector } = found(kind).spec;
  assert.deepEqual(pod.metadata.labels, selector.matchLabels ?? selector, `the pods of ${kind}`);
}
const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
for (const { port, targetPort } of found("Service").spec.ports) assert.equal(ports.get(targetPort), port);
for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
  assert.ok(ports.has(container[probe].httpGet.port), probe);
const volumes = [...pod.spec.volumes, ...found("StatefulSet").spec.volumeClaimTemplates.map(({ metadata }) => metadata)];
for (const { volumeMounts } of [container, ...pod.spec.initContainers])
  for (const { name } of volumeMounts) assert.ok(volumes.some((volume) => volume.name === name), name);

const { services, volumes: stored } = parse(await read("compose.yaml"));
const { laud } = services;
assert.deepEqual(Object.keys(services), ["laud"]);
assert.equal(await read("Dockerfile").then((text) => text.includes(`VOLUME ${laud.volumes[0].split(":")[1]}`)), true);
assert.ok(laud.volumes[0].split(":")[0] in stored);
assert.equal(new URL(`../${laud.build.dockerfile}`, deploy).href, new URL("Dockerfile", deploy).href);

// What test_docker compares with the program.
console.log(JSON.stringify({
  env: Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
  paths: ["startupProbe", "livenessProbe", "readinessProbe"].map((probe) => container[probe].httpGet.path),
  ports: [...ports.values()],
  published: laud.ports,
  user: pod.spec.securityContext.runAsUser,
}));
