import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { filesBelow, matches, textOf, unique } from './texts.ts';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';

// What a metric of logs counts is a matter of its filter alone: each is asked of the very lines that the code writes.

const monitoring = textOf('terraform/monitoring.tf');

/** A metric as the file has it: its filter without the service, and the field of its figure or of its label. */
function metric(name: string): { terms: string[]; field: string } {
  const [, text = ''] = monitoring.split(`\n    ${name} = {\n`);
  const [filter = ''] = matches(text, /filter\s+= "\$\{local\.\w+\} (.*)"$/gm);
  const [field = ''] = matches(text, /(?:field\s+= |labels\s+= \{ \w+ = )"(\w+)"/g);
  return {
    terms: matches(filter.replaceAll('\\"', '"'), /(jsonPayload\.\w+[=>]+(?:\([^)]*\)|\S+))/g),
    field,
  };
}

/** Whether a line has what one term of a filter asks for, as Cloud Logging reads it. */
function isMet(term: string, line: LogFields): boolean {
  const [, name = '', operator, wanted = ''] = /^jsonPayload\.(\w+)(>=|>|=)(.*)$/.exec(term) ?? [];
  const value = line[name];
  if (value === undefined) return false;
  if (operator === '=') return matches(wanted, /"(\w+)"/g).includes(String(value));
  return operator === '>' ? Number(value) > Number(wanted) : Number(value) >= Number(wanted);
}

const lines: LogFields[] = [];

/** What a metric takes of the lines. */
const taken = (name: string) => {
  const { terms, field } = metric(name);
  return lines
    .filter((line) => terms.length > 0 && terms.every((term) => isMet(term, line)))
    .map((line) => line[field]);
};

beforeAll(async () => {
  const logger = {
    log: (severity: string, event: string, fields: LogFields) =>
      void lines.push({ severity, event, ...fields }),
  };
  const bench = compactionBench({ logger });
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  const usage = { promptTokens: 700, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
  const { model } = scriptedStreamer(textAnswer('Fine.', usage));
  const chat = chatDependencies({ store: bench.store, model, logger });
  for (const text of ['Good morning.', 'Hello.'])
    await (
      await sendMessage(chat, request(conversationId, text, randomUUID()))
    ).result;
});

test.each([
  ['compactions', ['COMPACTED']],
  ['turns', ['done', 'done']],
])('the metric %s takes what a swap and the turns behind it have logged', (name, labels) => {
  expect(taken(name)).toEqual(labels);
});

test.each([
  ['cost_micros', 3],
  ['prompt_tokens', 3],
  ['output_tokens', 3],
  ['compaction_ms', 1],
  ['turn_ms', 2],
  ['first_token_ms', 2],
])('the metric %s takes a figure of each of %i calls or runs', (name, count) => {
  expect(taken(name)).toHaveLength(count);
});

test('the states of refused summaries are those of the code', () => {
  const [states = ''] = matches(monitoring, /refused_states = \[(.*)\]$/gm);

  const refused: OutcomeState[] = ['FAILED_VERIFICATION', 'FAILED_EMPTY_SUMMARY'];

  expect(matches(states, /"(\w+)"/g)).toEqual(refused);
});

/** Events and fields that the filters of all metrics and of the log of erasures name. */
const filters = `${monitoring}\n${textOf('terraform/logging.tf')}`;
const events = matches(filters, /jsonPayload\.event=(\([^)]*\)|\\"\w+\\")/g).flatMap((names) =>
  matches(names, /\\"(\w+)\\"/g),
);
const code = filesBelow(['functions/src', 'shared'], /\.ts$/).map(textOf).join('\n');

test.each(unique(events))(
  '%s, which a filter of logs asks for, is an event of the code',
  (event) => {
    expect(code).toContain(`'${event}'`);
  },
);
