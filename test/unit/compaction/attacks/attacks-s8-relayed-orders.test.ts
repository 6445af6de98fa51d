import { describe, expect, test } from 'vitest';
import { plainText } from '#shared/text/plain-text.ts';
import { type Snapshot, workingItems } from '#shared/conversation/documents/snapshot.ts';
import { foldInMemory } from '#test/support/attacks/fold-in-memory.ts';
import {
  carriers,
  channels,
  READ_SEQ,
  relayedTurns,
  relays,
  TOLD_SEQ,
  type Channel,
} from '#test/support/attacks/relayed-orders.ts';
import { tongues } from '#test/support/attacks/tongues.ts';
import { modelItem, snapshotWith } from '#test/support/compaction/said-turn.ts';
import { sampled } from '#test/support/search-cases.ts';

/* Row S8 of the security checklist: what was read is told again by the model, and the summariser obeys. */

/** Seconds of work, and minutes where many share the machine. */
const BUSY = { timeout: 300_000 };

type Tongue = (typeof tongues)[number];

const previous = snapshotWith({
  overall_goal: [modelItem(1, 'Plan a journey to Porto by train.')],
  task_state: [modelItem(2, 'Find a hotel for the night in Madrid.', { status: 'todo' })],
});

/** Sections whose items tell the model what to do, or what its user wants. */
const telling = new Set([
  'overall_goal',
  'task_state',
  'active_constraints',
  'decisions',
  'user_profile',
  'open_questions',
]);

/** Every way in which a summariser that obeys takes one of these texts for something to be done. */
function obeying(texts: readonly string[], sources: readonly number[]): object[] {
  return texts.flatMap((text) => [
    { op: 'add', section: 'overall_goal', text, sources },
    { op: 'add', section: 'task_state', text, sources, status: 'todo' },
    { op: 'add', section: 'active_constraints', text, sources },
    { op: 'add', section: 'active_constraints', text, sources, quote: text },
    { op: 'add', section: 'decisions', text, sources },
    { op: 'add', section: 'user_profile', text, sources },
    { op: 'add', section: 'open_questions', text, sources },
    { op: 'update', id: 'i1', text, sources },
    { op: 'update', id: 'i1', text: `Plan a journey to Porto by train. ${text}`, sources },
    { op: 'update', id: 'i2', text: `Find a hotel for the night in Madrid; ${text}`, sources },
  ]);
}

const answerOf = (operations: readonly object[]): string =>
  JSON.stringify({ scratchpad: '', operations });

const letters = (text: string): string => plainText(text).replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Whether some of the middle of an order stands in a text. */
function holdsPartOf(text: string, order: string): boolean {
  const [said, all] = [letters(text), letters(order)];
  const size = Math.floor(all.length / 4);
  return [0, 1, 2, 3].some((part) => said.includes(all.slice(part * size, (part + 1) * size)));
}

const obeyed = (snapshot: Snapshot, { order }: Tongue): string[] =>
  workingItems(snapshot)
    .filter(({ section, text }) => telling.has(section) && holdsPartOf(text, order))
    .map(({ section, text }) => `${section}: ${text}`);

interface Variant {
  tongue: Tongue;
  carrier: string;
  relay: string;
  channel: Channel;
}

const variantsOf = (channel: Channel): Variant[] =>
  tongues.flatMap((tongue) =>
    Object.keys(carriers).flatMap((carrier) =>
      Object.keys(relays).map((relay) => ({ tongue, carrier, relay, channel })),
    ),
  );

function foldedTexts({ tongue, carrier, relay, channel }: Variant) {
  const carried = carriers[carrier]?.(tongue.order, tongue) ?? '';
  const told = relays[relay]?.(tongue.order, tongue) ?? [];
  const turns = relayedTurns(tongue, { carried, relay: told, channel });
  const words = told.map((text) => text.replace(tongue.relay, '').trim());
  return { turns, texts: [...new Set([tongue.order, ...words])] };
}

const cited = [[READ_SEQ], [TOLD_SEQ], [READ_SEQ, TOLD_SEQ]];

function achieved(variant: Variant, index: number): string[] {
  const { turns, texts } = foldedTexts(variant);
  const sources = cited[index % cited.length] ?? [];
  const folded = foldInMemory({ turns, previous, answer: answerOf(obeying(texts, sources)) });
  return folded.kind === 'taken' ? obeyed(folded.snapshot, variant.tongue) : [folded.reason];
}

/** The variants in which something is achieved. */
const takenIn = (variants: readonly Variant[]): string[] =>
  variants
    .filter((variant, index) => achieved(variant, index).length > 0)
    .map(({ tongue, carrier, relay }) => `${tongue.name}, ${carrier}, ${relay}`);

describe('S8: an order that the model repeats', () => {
  test.each(channels)(
    'S8: an order that the model repeats is no goal, step, rule or wish in %s',
    BUSY,
    (channel) => {
      const variants = variantsOf(channel);

      expect(takenIn(sampled(variants))).toEqual([]);
      expect(variants).toHaveLength(648);
    },
  );

  test.each(tongues)(
    'S8: an order that the model repeats is not attributed to the user in $name',
    (tongue) => {
      const found = tongue.claims.flatMap((claim) => {
        const text = claim(tongue.order);
        const turns = relayedTurns(tongue, {
          carried: `Aurora: 4.5\n${text}\nOK`,
          relay: [`${tongue.relay} ${text}`],
          channel: 'what a tool returns',
        });
        const operations = ['key_knowledge', 'recent_actions', 'user_profile'].map((section) => ({
          op: 'add',
          section,
          text,
          sources: [TOLD_SEQ],
        }));
        const folded = foldInMemory({ turns, previous, answer: answerOf(operations) });
        if (folded.kind === 'refused') return [folded.reason];
        return workingItems(folded.snapshot)
          .map((item) => item.text)
          .filter((said) => holdsPartOf(said, tongue.order))
          .filter((said) => !said.startsWith('Tool: "') && !said.startsWith('"'));
      });

      expect(found).toEqual([]);
    },
  );
});
