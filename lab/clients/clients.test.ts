import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { columnNames } from './columns.ts';
import { clientVersions } from './install-clients.ts';
import { saidBy } from './observe.ts';
import { rowFiles } from './rows.ts';
import { clientsPage, printedRow } from './table.ts';

const page = await readFile(new URL('../../docs/reference/clients.md', import.meta.url), 'utf8');
const rowNames = rowFiles.flatMap(({ names }) => names);
const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());

test('the page of client libraries has a row for each of them and no empty cell', () => {
  const table = page.split('\n').filter((line) => line.startsWith('| '));
  const rows = table.filter((line) => !/^\| (?:\||---)/u.test(line));

  expect(rows.map((line) => line.split('|')[1]?.trim())).toEqual(rowNames);
  for (const row of rows) {
    const cells = cellsOf(row);
    expect(cells).toHaveLength(columnNames.length);
    for (const cell of cells) expect(cell).toMatch(/^(?:✔|(?:[–✘] )?\[\d+\]\(#s\d+\))$/u);
  }
});

test('the page of client libraries names their versions as they are pinned', async () => {
  for (const version of await clientVersions()) {
    expect(version).toMatch(/@\d+\.\d+\.\d+$/u);
    expect(page).toContain(`- ${version}\n`);
  }
});

test('the lock file of the client libraries names no registry', async () => {
  const lock = await readFile(new URL('installed/package-lock.json', import.meta.url), 'utf8');

  expect(lock).not.toContain('"resolved"');
});

test('a cell that was not run is shown as a defect', () => {
  const cells = { send: { kind: 'works' as const } };

  expect(clientsPage({ 'a client': cells }, [])).toContain('| a client | ✔ | ✘ [1](#s1) |');
  expect(printedRow('a client', cells)).toBe('a client\n  send       ✔\n');
});

test.each([
  ['{"error":{"code":429,"message":"Come back later."}}', 'Come back later. (inside JSON)'],
  ['429 Come back later.', '429 Come back later.'],
])('what a user reads in the error %s', (text, words) => {
  expect(saidBy(new Error(text))).toBe(words);
});
