import { describe, expect, test } from 'vitest';
import { historyContents, nameableItems } from '#shared/compaction/history-lines.ts';
import { readSnapshot } from '#shared/compaction/read-snapshot.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { createRandom } from '#lab/chaos/random.ts';
import {
  attackedHistory,
  realConstraint,
  type Placement,
} from '#test/support/attacks/attacked-turns.ts';
import { achievedBy } from '#test/support/attacks/findings.ts';
import { boundary, foldInMemory } from '#test/support/attacks/fold-in-memory.ts';
import { contentsRead, foldAsGeminiCli } from '#test/support/attacks/fold-gemini-cli.ts';
import { drawPoisons, type Poison } from '#test/support/attacks/poisons.ts';

/* Row S9 of the security checklist: texts that are made for the step in which a conversation is summarised. */

const poisons = drawPoisons(createRandom('s9'), 120);
/** Seconds of work, and minutes where many share the machine. */
const BUSY = { timeout: 300_000 };
const channels: readonly Placement[] = ['what the user says', 'what a tool returns'];

/** A mark, a day, an item or a boundary, as a summariser could take a line of somebody else for one. */
const looksLikeOurs = /^ ?(?:\[|\{|edge-7f3a|(?:turn|user|model|tool|assistant|system)\b)/iu;

/** An honest answer in either format, with the poison where the summariser copies what it read. */
const copiedInto = {
  ledger: ({ text }: Poison) => [
    text,
    JSON.stringify({
      scratchpad: text,
      operations: [
        { op: 'add', section: 'active_constraints', text: realConstraint, sources: [3] },
        ...['key_knowledge', 'recent_actions', 'timeline', 'active_constraints'].map((section) => ({
          op: 'add',
          section,
          text,
          sources: [4],
        })),
      ],
      topics: [{ title: text, from: 4, through: 4 }],
    }),
  ],
  geminiCli: ({ text }: Poison) => [
    text,
    `<state_snapshot><overall_goal>Plan a journey to Porto by train with Ana.</overall_goal><key_knowledge>${text}</key_knowledge><recent_actions>The tiles of the station were looked at.</recent_actions></state_snapshot>`,
  ],
};

describe('S9: a hundred and twenty texts that are made for the summariser', () => {
  test.each(channels)(
    'S9: a hundred and twenty hostile texts leave the ledger prompt’s frame intact: %s',
    (channel) => {
      const marginsOf = (text: string) => {
        const { turns, previous } = attackedHistory(channel, text);
        const read = historyContents({
          utterances: readUtterances(turns),
          attachments: [],
          known: nameableItems(previous),
          boundary,
        });
        const lines = read.map(contentText).join('\n').split('\n');
        return lines.filter((line) => looksLikeOurs.test(line)).map((line) => line.slice(0, 8));
      };
      const plain = marginsOf('A word of no weight.');

      expect(poisons.filter(({ text }) => marginsOf(text).join() !== plain.join())).toEqual([]);
    },
  );

  test.each(channels)(
    'S9: hostile texts hold no snapshot when a gemini-cli summariser reads them: %s',
    (channel) => {
      const isSnapshot = ({ text }: Poison) =>
        contentsRead(attackedHistory(channel, text)).some(
          (content) => readSnapshot(contentText(content)).ok,
        );

      expect(poisons.filter(isSnapshot)).toEqual([]);
    },
  );

  test.each(channels)(
    'S9: hostile texts achieve nothing when a ledger summariser copies them: %s',
    BUSY,
    (placement) => {
      const results = poisons.flatMap((poison) => {
        const history = attackedHistory(placement, poison.text);
        return copiedInto.ledger(poison).map((answer) => {
          const folded = foldInMemory({ ...history, answer });
          if (folded.kind === 'refused')
            return {
              isTaken: false,
              achieved: undefined,
              statesConstraint: false,
              hasRealConstraint: false,
            };
          const { rendered } = folded;
          const attack = poison.text;
          return {
            isTaken: true,
            poison,
            statesConstraint: answer.includes(realConstraint),
            ...achievedBy({ placement, history, attack, rendered, boundary }),
          };
        });
      });

      expect(results.filter((result) => result.achieved !== undefined)).toEqual([]);
      expect(
        results.filter((result) => result.statesConstraint && !result.hasRealConstraint),
      ).toEqual([]);
      expect(results.filter(({ isTaken }) => isTaken).length).toBeGreaterThan(poisons.length / 2);
    },
  );

  test.each(channels)(
    'S9: hostile texts break no gemini-cli snapshot that copies them: %s',
    BUSY,
    (placement) => {
      const results = poisons.flatMap((poison) => {
        const history = attackedHistory(placement, poison.text);
        return copiedInto.geminiCli(poison).map((answer) => {
          const folded = foldAsGeminiCli({ answer });
          if (folded.kind === 'refused') return { isTaken: false };
          const { rendered } = folded;
          const found = achievedBy({ placement, history, attack: poison.text, rendered, boundary });
          const { broken = [], escaped = [] } = found.achieved ?? {};
          return { isTaken: true, poison, faults: [...broken, ...escaped] };
        });
      });

      expect(results.filter(({ faults = [] }) => faults.length > 0)).toEqual([]);
      expect(results.filter(({ isTaken }) => isTaken).length).toBeGreaterThan(poisons.length / 2);
    },
  );
});
