import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { startAttaching } from '#test/support/chat/attaching.ts';
import { runBlocks } from '#test/support/processes/run-blocks.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';

/* The `sh` blocks of docs/guides/attachments.md, run by the real bash, curl and jq. */

const PAGE = new URL('../../../docs/guides/attachments.md', import.meta.url);
const PICTURE = Buffer.from('\xff\xd8\xff\xe0 a receipt', 'latin1');

const world = await startAttaching();
afterAll(() => world.stop());

test('the attachments recipe uploads a file, asks about it, and reads it again', async () => {
  const page = await readFile(PAGE, 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const { url, keys, project } = world.chat;
  const file = `base64 -d <<< ${PICTURE.toString('base64')} > receipt.jpg`;

  const printed = await runBlocks([file, ...blocks], {
    RECAP_URL: url,
    RECAP_TOKEN: await keys.sign(idTokenClaims(project, 'alice')),
  });

  expect(blocks).toHaveLength(2);
  expect(JSON.parse(printed[1] ?? '')).toMatchObject({ turn: { state: 'done' } });
  const data = PICTURE.toString('base64');
  expect(world.prompt().at(-1)).toEqual({ inlineData: { mimeType: 'image/jpeg', data } });
  const read = await fetch(printed[2]?.trim() ?? '');
  expect(Buffer.from(await read.bytes()).equals(PICTURE)).toBe(true);
});
