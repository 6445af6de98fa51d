import type { Write } from '#shared/ports/ports.ts';
import { marksIn } from '../scripted-models.ts';
import { readableFields } from '#test/support/stores/readable-fields.ts';
import type { Invariant } from './invariant.ts';
import { fieldOf } from './journal-writes.ts';

const TURN = /^conversations\/([^/]+)\/turns\/\d+$/;

/** What the turns of each conversation say, by the marks in them, as writes are applied. */
function createMarks() {
  const marks = new Map<string, Map<string, string[]>>();
  return {
    apply: (writes: readonly Write[]) => {
      for (const write of writes) {
        const [, conversationId] = TURN.exec(write.path) ?? [];
        if (conversationId === undefined) continue;
        const turns = marks.get(conversationId) ?? new Map<string, string[]>();
        marks.set(conversationId, turns);
        for (const name of ['userJson', 'answerJson']) {
          const json = fieldOf(write, name);
          if (typeof json === 'string') turns.set(`${write.path} ${name}`, marksIn(json));
        }
      }
    },
    of: (conversationId: string) =>
      new Set([...(marks.get(conversationId)?.values() ?? [])].flat()),
  };
}

/**
 * An entry holds how the last question and answer begin. What is erased of them goes in the batch that erases it, and no
 * later batch brings it back: an entry only tells what a turn of its conversation says at that moment.
 */
export const erasedPreviews: Invariant = {
  name: 'I12 no preview holds a word of a message that was erased',
  violations({ initial, journal: { commits, listed } }) {
    const marks = createMarks();
    marks.apply(initial.writes);
    return commits.flatMap(({ writes }, index) => {
      marks.apply(writes);
      return listed
        .filter(({ afterCommits }) => afterCommits === index + 1)
        .flatMap(({ conversationId, entry }) => {
          const said = marks.of(conversationId);
          return marksIn(readableFields(entry?.fields ?? {}))
            .filter((mark) => !said.has(mark))
            .map(
              (mark) => `after commit ${index + 1} the entry of ${conversationId} tells ${mark}`,
            );
        });
    });
  },
};
