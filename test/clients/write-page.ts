import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '#infra/command-line.ts';
import { clientsPage, packages, pageUrl } from './clients-page.ts';

const help = `Usage: npm run clients

Runs the tests of client libraries (test/clients), which drive each library against the chat function over HTTP, and writes
what came of them to docs/reference/clients.md. Libraries that are missing are installed first.
\`npm test -- test/clients\` compares them with that page and writes nothing.

  --help  this text

Exit code: 0 written; 1 a library could not be run; 2 wrong arguments.`;

/** Runs the tests, each of which leaves what came of its library in `results`. */
async function runTests(results: string): Promise<number> {
  const packageFile = createRequire(import.meta.url).resolve('vitest/package.json');
  const vitest = join(dirname(packageFile), 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', 'test/clients'], {
    stdio: 'inherit',
    env: { ...process.env, CI: 'true', RECAP_CLIENT_RESULTS: results },
  });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

async function writePage(results: string): Promise<void> {
  const rows = Object.keys(packages).map(async (name) => {
    const text = await readFile(join(results, `${encodeURIComponent(name)}.json`), 'utf8');
    return [name, JSON.parse(text)] as const;
  });
  await writeFile(pageUrl, clientsPage(Object.fromEntries(await Promise.all(rows))));
}

process.exitCode = await runCommand(help, async (argv) => {
  if (argv.includes('--help')) return 'help';
  const results = await mkdtemp(join(tmpdir(), 'recap-clients-'));
  try {
    const code = await runTests(results);
    if (code === 0) await writePage(results);
    return code;
  } finally {
    await rm(results, { recursive: true });
  }
});
