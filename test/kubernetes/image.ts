/**
 * Container images without a container engine: files as one layer in a docker-archive tar, which containerd, docker and
 * podman load. The same files make the same bytes. Accord's image has what Dockerfile puts into it: the files that
 * deploy/image-files lists and the packages of production, with this repository's Node and its libraries.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The `config` of an image, as the OCI image specification names its fields. */
export type ImageConfig = { Entrypoint: string[]; Env?: string[]; User?: string; WorkingDir?: string };

/**
 * Packs a folder as an image's root. @param to the tar's path. @param name with its tag: localhost/pause:1
 * @returns the image's size in bytes, unpacked
 */
export async function packImage(folder: string, name: string, config: ImageConfig, to: string): Promise<number> {
  const scratch = await mkdtemp(join(dirname(to), 'image-'));
  try {
    const layer = join(scratch, 'layer.tar');
    await tar(folder, layer, ['.']);
    const hash = createHash('sha256');
    let size = 0;
    await pipeline(createReadStream(layer), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
      }
    });
    const digest = hash.digest('hex');
    const created = '1970-01-01T00:00:00Z';
    const image = JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      created,
      config,
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
      history: [{ created }],
    });
    const configName = `${createHash('sha256').update(image).digest('hex')}.json`;
    const manifest = [{ Config: configName, RepoTags: [name], Layers: ['layer.tar'] }];
    await writeFile(join(scratch, configName), image);
    await writeFile(join(scratch, 'manifest.json'), JSON.stringify(manifest));
    await tar(scratch, to, ['manifest.json', configName, 'layer.tar']);
    return size;
  } finally {
    await rm(scratch, { recursive: true });
  }
}

async function tar(folder: string, to: string, names: readonly string[]): Promise<void> {
  // Neither when nor by whom it was packed, nor that one's umask.
  const same = [
    '--mode=u+rwX,go+rX,go-w',
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=gnu',
  ];
  await run('tar', ['-C', folder, ...same, '-cf', `${to}.part`, ...names]);
  await rename(`${to}.part`, to); // whole or not at all
}

/** Packs Accord's own image. @returns its size in bytes, unpacked */
export async function packAccord(name: string, to: string): Promise<number> {
  const folder = await mkdtemp(join(dirname(to), 'root-'));
  try {
    await copyFiles(join(folder, 'app'));
    await buildPortal(join(folder, 'app/portal/dist'));
    await installPackages(join(folder, 'app'));
    await copyProgram(process.execPath, folder, '/usr/local/bin/node');
    await mkdir(join(folder, 'tmp'));
    await chmod(join(folder, 'tmp'), 0o1777);
    const config = {
      Entrypoint: ['/app/deploy/accord'],
      Env: [
        ...['PATH=/app/deploy:/usr/local/bin:/usr/bin:/bin', 'NODE_ENV=production'],
        'NODE_OPTIONS=--max-semi-space-size=16',
        ...['ACCORD_LISTEN=0.0.0.0:8080', 'ACCORD_ADMIN_LISTEN=0.0.0.0:8081'],
      ],
      User: '65532:65532',
      WorkingDir: '/app',
    };
    return await packImage(folder, name, config, to);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What deploy/image-files lists: a path a line, a directory with all that is in it; `!` takes a path out again. */
async function copyFiles(to: string): Promise<void> {
  const lines = (await readFile(join(root, 'deploy/image-files'), 'utf8')).split('\n').map((line) => line.trim());
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    if (line.startsWith('!')) await rm(join(to, line.slice(1)), { recursive: true });
    else if (line !== 'portal/dist') await cp(join(root, line), join(to, line), { recursive: true });
  }
}

/** As the stage `portal` of Dockerfile does. */
async function buildPortal(to: string): Promise<void> {
  await run(process.execPath, [join(root, 'portal/build.ts'), '--brotli', '11', '--to', to]);
}

/** As Dockerfile does, from npm's cache where it has them. */
async function installPackages(app: string): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
  await run('npm', ['ci', '--omit=dev', '--omit=optional', ...quiet], { cwd: app });
  const pages = ['README.md', 'CHANGELOG.md', 'HISTORY.md'];
  const unused = ['*.map', '*.d.ts', '*.d.mts', '*.d.cts', ...pages].flatMap((name) => ['-o', '-name', name]).slice(1);
  await run('find', ['node_modules', '-type', 'f', '(', ...unused, ')', '-delete'], { cwd: app });
}

/** A program with the libraries that it loads, each at its own path. */
export async function copyProgram(from: string, folder: string, at: string): Promise<void> {
  const { stdout } = await run('ldd', [from]);
  const libraries = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path as string);
  for (const [source, target] of [[from, at], ...libraries.map((path) => [path, path])] as [string, string][]) {
    await mkdir(dirname(join(folder, target)), { recursive: true });
    await cp(source, join(folder, target), { dereference: true });
  }
}
