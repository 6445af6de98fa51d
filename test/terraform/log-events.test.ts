import { describe, expect, test } from 'vitest';
import { functionsCode, matches, textOf, unique } from './texts.ts';

// Terraform knows no log line: an alert on an event that no code writes is valid, and silent for ever.

const code = functionsCode();
const monitoring = textOf('terraform/monitoring.tf');

/** Events that filters of metrics name, alone or in a list. */
const events = unique(
  matches(monitoring, /jsonPayload\.event=(\([^)]*\)|\\"\w+\\")/g)
    .flatMap((named) => matches(named, /(\w+)/g))
    .filter((word) => word !== 'OR'),
);

/** Fields of log lines that metrics read. */
const fields = unique([
  ...matches(monitoring, /jsonPayload\.(\w+)/g),
  ...matches(monitoring, /^ {6}field\s+= "(\w+)"/gm),
]);

/** Metrics of logs by the names that `counters` and `distributions` give them. */
const metrics = unique(matches(monitoring, /^ {4}(\w+) = \{\n {6}description/gm));

const queried = (text: string) =>
  unique(matches(text, /counted\}(\w+?)(?:_(?:bucket|sum|count))?\b/g));

describe('the log of erasures', () => {
  const [filter = ''] = matches(textOf('terraform/logging.tf'), /^ {2}filter {6}= "(.*)"$/gm);
  const named = matches(filter, /\\"(\w+)\\"/g);

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
    expect(queried(textOf('terraform/dashboard.json.tftpl'))).toEqual(metrics);
  });
});
