// Writes the software bill of materials of the image as CycloneDX JSON: `node deploy/sbom.mjs FILE`. npm says which packages
// production takes, with their digests; Go says which modules are in the Rego compiler's Wasm, whose go.sum pins them.
// Without Go the file has no such modules, and the command fails.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });

const npmArgs = [
  'sbom',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
  '--omit=dev',
  '--omit=optional',
  '--package-lock-only',
];
const bom = JSON.parse(run('npm', [...npmArgs, '--loglevel=error']));

// npm takes the folder's name, whatever it is.
bom.metadata.component.name = 'accord';

const module = '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}';
const target = ['GOOS=wasip1', 'GOARCH=wasm', 'GOFLAGS=-mod=readonly'];
const modules = run('env', [...target, 'go', 'list', '-deps', '-f', module, '.'], {
  cwd: fileURLToPath(new URL('../server/rego/compiler', import.meta.url)),
});
for (const line of [...new Set(modules.split('\n').filter(Boolean))].sort()) {
  const [name, version] = line.split(' ');
  const purl = `pkg:golang/${name}@${version}`;
  bom.components.push({ 'bom-ref': purl, type: 'library', name, version, purl, scope: 'required' });
}

const [, , file] = process.argv;
writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
process.stdout.write(`${file}: ${bom.components.length} components\n`);
