import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { archiveFiles } from '#infra/package/archive.ts';

/* `node unpack.ts DIR`: writes the files of the archive into a folder. */
const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const [, , folder = '.'] = process.argv;
for (const [name, content] of await archiveFiles(root))
  await writeFile(join(folder, name), content);
