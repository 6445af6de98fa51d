import { mkdir, writeFile } from 'node:fs/promises';
import { readOptions } from '../eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { goldenConversations } from './golden-conversations.ts';
import { goldenDocument, goldenFile } from './golden-document.ts';
import { compactGolden } from './golden-run.ts';

const help = `Usage: npm run golden

Compacts the golden conversations and writes their snapshots anew, for the difference to be read.

  --help  this text`;

async function write(): Promise<void> {
  await mkdir(new URL('snapshots/', import.meta.url), { recursive: true });
  for (const conversation of goldenConversations)
    for (const generation of await compactGolden(conversation)) {
      await writeFile(goldenFile(generation), goldenDocument(generation));
      console.log(goldenFile(generation).pathname.split('/').at(-1));
    }
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, { help: { type: 'boolean', default: false } });
  if (values.help) return 'help';
  await write();
  return 0;
});
