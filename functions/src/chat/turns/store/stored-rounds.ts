import { findCalls, findOpenCalls } from '#shared/conversation/context/tool-calls.ts';
import type { Rounds } from '#shared/conversation/documents/turn.ts';
import type { Answering } from '../answer/answer-round.ts';
import { contentChunks, responseChunks } from '../live/tool-frames.ts';

/** What the stream of this attempt has not shown yet of a round that waited: what the app and the user said. */
function showAnswers({ begun, emit }: Answering): number | undefined {
  const { contents, rounds } = begun.progress;
  const before = findCalls(contents.slice(0, -2)).length;
  const answered = findCalls(contents).filter(
    ({ index }) =>
      index >= before &&
      (rounds?.app.includes(index) === true || rounds?.asks?.includes(index) === true),
  );
  const ids = answered.flatMap((call) =>
    responseChunks({ seq: begun.attempt.seq, rounds }, call).map(emit),
  );
  return ids.at(-1);
}

/**
 * Shows the rounds that attempts before this one have stored, under the parts of this one, so that its stream
 * says all of the answer; after a pause what was answered meanwhile. Returns the rounds with the frames that
 * end them; nothing where there are none.
 */
export function showStoredRounds(answering: Answering): Rounds | undefined {
  const { attempt, progress } = answering.begun;
  const { contents, rounds, isResumed } = progress;
  if (!rounds) return undefined;
  const isOpen = findOpenCalls(contents).length > 0;
  if (isResumed) {
    const lastId = showAnswers(answering);
    const frames = [...rounds.frames, ...(isOpen || lastId === undefined ? [] : [lastId])];
    return { ...rounds, frames };
  }
  const { seq } = attempt;
  const groups = contentChunks({ seq, attempt: attempt.attempt, contents, rounds });
  const ends = groups.map((chunks) => chunks.map(answering.emit).at(-1) ?? 0);
  return { ...rounds, frames: isOpen ? ends.slice(0, -1) : ends };
}
