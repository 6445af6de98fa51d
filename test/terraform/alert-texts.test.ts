import { runOps } from '#infra/ops/command-line.ts';
import { createScreen } from '#infra/ops/screen.ts';
import { filesBelow, matches, textOf } from './texts.ts';
import { expect, test } from 'vitest';

// What somebody reads who was woken: it has to reach them, and its commands have to work as they stand.

/** Longer than what Terraform puts into the place of a variable. */
const FILLED_IN = 'x'.repeat(60);

const code = filesBelow(['functions/src', 'shared'], /\.ts$/).map(textOf).join('\n');

const texts = filesBelow(['terraform/alerts'], /\.md$/).map((file) => {
  const text = textOf(file).replaceAll(/\$\{\w+\}/g, FILLED_IN);
  return { file, text, commands: matches(text, /^ {4}(\S.*)$/gm) };
});

/** The exit code of the command line of ops, which opens no project: 2 for what it does not know. */
async function exitCodeOf(command: string): Promise<number> {
  const [, argv = ''] = command.split(' -- ');
  const quiet = { out: () => undefined, err: () => undefined, isTerminal: false, nowMs: () => 0 };
  const open = () => Promise.reject(new Error('no project here'));
  return runOps(argv.replaceAll("'", '').split(' '), { screen: createScreen(quiet), open });
}

test.each(texts)('$file has commands that there are', async ({ commands }) => {
  const ops = commands.filter((command) => command.startsWith('npm run ops -- '));
  const codes = await Promise.all(ops.map(exitCodeOf));

  expect(commands.filter((command) => !/^(?:gcloud|npm run ops --|export) /.test(command))).toEqual(
    [],
  );
  expect(ops.filter((_, index) => codes[index] === 2)).toEqual([]);
});

test.each(texts)('$file asks logs for events and fields that the code logs', ({ commands }) => {
  const filters = commands.flatMap((command) => matches(command, /logging read '([^']*)'/g));
  const events = filters.flatMap((filter) =>
    matches(filter, /event=(\([^)]*\)|"\w+")/g).flatMap((list) => matches(list, /"(\w+)"/g)),
  );
  const fields = commands.flatMap((command) => matches(command, /jsonPayload\.(\w+)/g));

  expect(events.filter((event) => !code.includes(`'${event}'`))).toEqual([]);
  expect(fields.filter((field) => !new RegExp(String.raw`\b${field}\b`).test(code))).toEqual([]);
});
