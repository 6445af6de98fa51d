import { mkdir, writeFile } from 'node:fs/promises';
import { goldenConversations } from './golden-conversations.ts';
import { goldenDocument, goldenFile } from './golden-document.ts';
import { compactGolden } from './golden-run.ts';

await mkdir(new URL('snapshots/', import.meta.url), { recursive: true });
for (const conversation of goldenConversations)
  for (const generation of await compactGolden(conversation)) {
    await writeFile(goldenFile(generation), goldenDocument(generation));
    console.log(goldenFile(generation).pathname.split('/').at(-1));
  }
