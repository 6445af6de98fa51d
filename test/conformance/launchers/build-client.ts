import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { madeOnce } from '#test/support/tools/cache-folder.ts';

const CLIENTS = fileURLToPath(new URL('../../../clients', import.meta.url));

export interface SourceFile {
  /** Below the folder of the client. */
  name: string;
  text: string;
}

interface ClientBuild {
  /** Folder below `clients`. */
  client: 'dart' | 'kotlin' | 'swift';
  /** Which of its files it is made of. */
  sources: RegExp;
  /** What is compiled with it, such as the code of pages. */
  more?: readonly SourceFile[];
  /** What else the result depends on, such as the compiler. */
  key?: string;
  /** Compiles what stands in a folder. Throws what the compiler says. */
  compile: (folder: string) => Promise<void>;
}

/** Compiles a client, once for the same sources: compilers take long. Resolves to the folder. */
export async function buildClient(build: ClientBuild): Promise<string> {
  const { client, sources, more = [], key = '', compile } = build;
  const source = join(CLIENTS, client);
  const names = (await readdir(source, { recursive: true })).filter((name) => sources.test(name));
  const own = names
    .toSorted()
    .map(async (name) => ({ name, text: await readFile(join(source, name), 'utf8') }));
  const files = [...(await Promise.all(own)), ...more];
  const hash = createHash('sha256').update(JSON.stringify([files, key]));
  return madeOnce(`${client}-${hash.digest('hex')}`, async (folder) => {
    for (const { name, text } of files) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    await compile(folder);
  });
}
