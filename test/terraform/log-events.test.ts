import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { terraformFolder } from './check-terraform.ts';

const source = fileURLToPath(new URL('../../functions/src', import.meta.url));

function textBelow(folder: string, suffix: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

const code = [
  textBelow(source, '.ts'),
  textBelow(fileURLToPath(new URL('../../shared', import.meta.url)), '.ts'),
].join('\n');
const monitoring = readFileSync(join(terraformFolder, 'monitoring.tf'), 'utf8');

const unique = (found: Iterable<string>) => [...new Set(found)].toSorted();

/** Events that filters of metrics name, alone or in a list. */
const events = unique(
  [...monitoring.matchAll(/jsonPayload\.event=(\([^)]*\)|\\"\w+\\")/g)].flatMap(([, named = '']) =>
    [...named.matchAll(/\w+/g)].map(([word]) => word).filter((word) => word !== 'OR'),
  ),
);

/** Fields of log lines that metrics read. */
const fields = unique([
  ...[...monitoring.matchAll(/jsonPayload\.(\w+)/g)].map(([, name = '']) => name),
  ...[...monitoring.matchAll(/^ {6}field\s+= "(\w+)"/gm)].map(([, name = '']) => name),
]);

/** Metrics of logs by the names that `counters` and `distributions` give them. */
const metrics = unique(
  [...monitoring.matchAll(/^ {4}(\w+) = \{\n {6}description/gm)].map(([, name = '']) => name),
);

const withoutSuffix = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '');

const queried = (text: string) =>
  unique([...text.matchAll(/counted\}(\w+)/g)].map(([, name = '']) => withoutSuffix(name)));

describe('the log of erasures', () => {
  const { filter = '' } =
    /^ {2}filter {6}= "(?<filter>.*)"$/m.exec(
      readFileSync(join(terraformFolder, 'logging.tf'), 'utf8'),
    )?.groups ?? {};
  const named = [...filter.matchAll(/\\"(\w+)\\"/g)].map(([, name = '']) => name);

  test('names events and operations', () => {
    expect(named.length).toBeGreaterThan(3);
  });

  test.each(named)('%s is an event or an operation of the code', (name) => {
    expect(code).toContain(`'${name}'`);
  });
});

describe('metrics of logs', () => {
  test('are found in the file', () => {
    expect(events.length).toBeGreaterThan(10);
    expect(metrics.length).toBeGreaterThan(10);
  });

  test.each(events)('%s is an event that the code logs', (event) => {
    expect(code).toContain(`'${event}'`);
  });

  test.each(fields.filter((field) => field !== 'event'))(
    '%s is a field that the code logs',
    (field) => {
      expect(code).toMatch(new RegExp(String.raw`\b${field}\b`));
    },
  );

  test('are all that alerts ask for', () => {
    expect(queried(monitoring).filter((name) => !metrics.includes(name))).toEqual([]);
  });

  test('are all that the dashboard shows, and all of them are shown', () => {
    const dashboard = readFileSync(join(terraformFolder, 'dashboard.json.tftpl'), 'utf8');

    expect(queried(dashboard)).toEqual(metrics);
  });

  test('of all alerts there is a text, and no text without its alert', () => {
    const keys = [...monitoring.matchAll(/^ {4}([\w-]+) = \{\n {6}display.*\n {6}severity/gm)];
    const texts = readdirSync(join(terraformFolder, 'alerts')).map((name) => name.slice(0, -3));

    const named = [...monitoring.matchAll(/alerts\/([\w-]+)\.md/g)];
    const expected = [...keys, ...named].map(([, key = '']) => key);

    expect(unique(texts)).toEqual(unique(expected));
  });
});
