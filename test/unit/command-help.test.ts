import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const run = promisify(execFile);

const commands = Object.entries(manifest.scripts).flatMap(([name, line]) => {
  const file = /^node (\S+\.ts)$/u.exec(line)?.[1];
  return file === undefined ? [] : [[name, file] as const];
});

const BEGINS = '== ';

/** Asks one command after the other. One process loads once what they share; `process.exit` of one would end it for all. */
const askAll = `
import { pathToFileURL } from 'node:url';
process.exit = () => undefined;
for (const file of process.argv.slice(1)) {
  process.argv = [process.execPath, file, '--help'];
  console.log('${BEGINS}' + file);
  await import(pathToFileURL(file));
}`;

const printed = new Map<string, string>();
let complaints = '';
beforeAll(async () => {
  const files = commands.map(([, file]) => file);
  const parameters = ['--input-type=module', '--eval', askAll, '--', ...files];
  const { stdout, stderr } = await run(process.execPath, parameters);
  for (const text of stdout.split(BEGINS)) {
    const end = text.indexOf('\n');
    printed.set(text.slice(0, end), text.slice(end + 1));
  }
  complaints = stderr;
});

test.each(commands)('npm run %s -- --help prints its usage', (_, file) => {
  expect(printed.get(file)).toMatch(/^usage:? npm (?:run|start|test)/imu);
});

test('no command complains where it is asked for its help', () => {
  expect(complaints).toBe('');
});

test('a command names an unknown option without a stack trace', async () => {
  const given = run(process.execPath, ['lab/bench/bench.ts', '--loud']);

  const { code, stderr } = await given.catch((error) => error);

  expect(code).toBe(2);
  expect(stderr).toContain('--loud');
  expect(stderr).not.toMatch(/^ {4}at /mu);
});
