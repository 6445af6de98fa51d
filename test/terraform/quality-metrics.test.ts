import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { refusedStates } from '#shared/compaction/decisions/outcome-state.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import { buildDue, compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { matches, textOf } from './texts.ts';

// What a metric of logs counts is a matter of its filter alone: each is asked of the very lines that the code writes.

const monitoring = textOf('terraform/monitoring.tf');

/** A metric as the file has it: its filter without the service, and the field of its figure or of its label. */
function metric(name: string): { terms: string[]; field: string } {
  const [, text = ''] = monitoring.split(`\n    ${name} = {\n`);
  const [filter = ''] = matches(text, /filter\s+= "\$\{local\.\w+\} (.*)"$/gm);
  const [field = ''] = matches(text, /(?:field\s+= |labels\s+= \{ \w+ = )"(\w+)"/g);
  return {
    terms: matches(
      filter.replaceAll('\\"', '"'),
      /(jsonPayload\.\w+(?::\*|[=>]+(?:\([^)]*\)|\S+)))/g,
    ),
    field,
  };
}

/** Whether a line has what one term of a filter asks for, as Cloud Logging reads it. */
function isMet(term: string, line: LogFields): boolean {
  const [, name = '', operator, wanted = ''] =
    /^jsonPayload\.(\w+)(:|>=|>|=)(.*)$/.exec(term) ?? [];
  const value = line[name];
  if (value === undefined) return false;
  if (operator === ':') return true;
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

const PUPPY = 'The puppy weighs 23 kg now.';
const BOOKING = 'The booking number is QX-48213, by the way.';

beforeAll(async () => {
  const logger = {
    log: (severity: string, event: string, fields: LogFields) =>
      void lines.push({ severity, event, ...fields }),
  };
  const bench = compactionBench({
    model: createScriptedModel({ answers: [snapshotAnswer(), '1: QX-48213'] }),
    config: parseConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
      PROBE_SHARE: '1',
    }),
    logger,
  });
  const turns = Array.from({ length: 20 }, (_, i) =>
    i === 2 || i === 3 ? { user: i === 2 ? PUPPY : BOOKING } : {},
  );
  const conversationId = await buildDue(bench, { turns });
  await compactOnce(bench, conversationId);
  const usage = { promptTokens: 700, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
  const { model } = scriptedStreamer(textAnswer('Fine.', usage));
  const chat = chatDependencies({ store: bench.store, model, logger });
  for (const text of [PUPPY, 'Hello.'])
    await (
      await sendMessage(chat, request(conversationId, text, randomUUID()))
    ).result;
});

test.each([
  ['needed_facts', [1]],
  ['needed_facts_kept', [1]],
  ['probe_questions', [1]],
  ['probe_right', [1]],
  ['said_again', ['true', 'false']],
  ['cache_misses', ['COMPACTION', 'TOO_SHORT']],
  ['compactions', ['COMPACTED']],
])('the metric %s takes what a swap and the turns behind it have logged', (name, figures) => {
  expect(taken(name)).toEqual(figures);
});

test('the metric of costs takes what the summary, the probe and the answers cost', () => {
  expect(taken('cost_micros')).toHaveLength(4);
});

test.each([
  ['facts-lost', 'needed_facts_count'],
  // Five questions of each probe at most.
  ['probes-wrong', 'probe_questions_sum'],
])(
  'the alert %s does not fire for a single swap, however much that one folds',
  (alert, counted) => {
    const [, text = ''] = monitoring.split(`\n    ${alert} = {\n`);
    const [query = ''] = matches(text, /query\s+= "(.*)"$/gm);
    const least = query.split(' and ').map((condition) => {
      const [, name, figure] = /counted\}(\w+)\{.* > (\d+)$/.exec(condition) ?? [];
      return name === counted ? Number(figure) : 0;
    });

    expect(Math.max(...least)).toBeGreaterThanOrEqual(10);
  },
);

test('one message that says something again fires no alert', () => {
  const [burning = ''] = matches(monitoring, /^ +for_each = (.* local\.outcome_objectives\).*)$/gm);
  const [objective = ''] = matches(monitoring, /^ +not-said-again += (.*)$/gm);

  expect(burning).toContain('if objective.alerts');
  expect(objective).toContain('alerts = false');
});

test('the states of refused summaries are those of the code', () => {
  const [states = ''] = matches(monitoring, /refused_states = \[(.*)\]$/gm);

  expect(matches(states, /"(\w+)"/g)).toEqual(refusedStates);
});
