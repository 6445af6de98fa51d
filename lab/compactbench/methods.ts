import { AnswerMissingError, type Ask } from '../eval/answers/ask-recorded.ts';
import { compactThrough } from '../eval/run/eval-compaction.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { appendTurns, storeConversation } from '../eval/run/eval-store.ts';
import { turnsOf } from '../eval/run/eval-turns.ts';
import { SUMMARY_REQUEST, withoutScratchpad } from '../eval/run/other-summariser.ts';
import { mergeStates, parseState, renderMessages, type Artifact } from './artifact.ts';
import type { Message } from './cases.ts';
import { constantStrings, fill, readSource } from './python-texts.ts';

/** Compacts a conversation, every time with some messages more. Throws AnswerMissingError. */
export type Compact = (messages: readonly Message[]) => Promise<Artifact>;

/** CompactBench's floor: one summary of everything. */
export async function naiveSummary(checkout: string, ask: Ask): Promise<Compact> {
  const source = await readSource(checkout, 'compactors/naive_summary.py');
  const prompt = constantStrings(source, '_PROMPT').join('');
  return async (messages) => {
    const text = fill(prompt, { transcript: renderMessages(messages) });
    return { summary: await ask({ kind: 'main', text }) };
  };
}

/** CompactBench's ledger: what was decided accumulates, below a header of two sentences. */
export async function hybridLedger(checkout: string, ask: Ask): Promise<Compact> {
  const source = await readSource(checkout, 'compactors/hybrid_ledger.py');
  const delta = constantStrings(source, '_DELTA_PROMPT').join('');
  const header = constantStrings(source, '_HEADER_PROMPT').join('');
  let state: Artifact['state'];
  return async (messages) => {
    const values = { transcript: renderMessages(messages) };
    const found = await ask({ kind: 'main', text: fill(delta, values) });
    const summary = await ask({ kind: 'header', text: fill(header, values) });
    state = mergeStates(state, parseState(found));
    return { summary, state };
  };
}

const toTurns = (id: string, messages: readonly Message[]) =>
  turnsOf({
    id,
    turns: messages.map(({ role, content }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: [{ text: content }],
    })),
  });

const turnMessages = ({ user, contents }: ReturnType<typeof toTurns>[number]): Message[] =>
  [user, ...contents].map(({ role, parts }) => ({
    role: role === 'model' ? 'assistant' : 'user',
    content: parts.map(({ text }) => text ?? '').join(''),
  }));

const withTail = (snapshot: string, tail: readonly Message[]): string =>
  [snapshot, renderMessages(tail)].filter((text) => text !== '').join('\n\n');

/** The worker: folds all turns but the last into the snapshot, which it verifies. A refusal leaves the turns. */
export async function recap(bench: EvalBench, id: string): Promise<Compact> {
  const { store, clock, randomness } = bench.dependencies;
  const conversation = { model: bench.model, profile: 'assistant' as const, now: clock.now() };
  const conversationId = await storeConversation(store, conversation, randomness);
  let stored = 0;
  let snapshot = '';
  let covered = 0;
  return async (messages) => {
    const turns = toTurns(id, messages);
    await appendTurns(store, { conversationId, stored }, turns.slice(stored));
    stored = turns.length;
    const compaction = { conversationId, lastFoldedSeq: turns.length - 1 };
    const { history, reason } = await compactThrough(bench.dependencies, compaction);
    if (bench.answers?.isWaiting() === true) throw new AnswerMissingError(bench.answers);
    if (history) {
      snapshot = history.snapshotText;
      covered = history.coveredThrough.seq;
    }
    const summary = withTail(snapshot, turns.slice(covered).flatMap(turnMessages));
    return { summary, ...(!history && { refusal: reason ?? 'UNKNOWN' }) };
  };
}

/** Another summariser in Recap's place: its instruction, the summary so far and the same turns to fold. */
export function promptMethod(system: string, ask: Ask): Compact {
  let snapshot = '';
  let covered = 0;
  return async (messages) => {
    const turns = toTurns('', messages);
    const folded = turns.slice(covered, -1).flatMap(turnMessages);
    const history = withTail(snapshot, folded);
    const text = `${history}\n\nUSER: ${SUMMARY_REQUEST}.`;
    const answer = await ask({ kind: 'main', system, text });
    snapshot = withoutScratchpad(answer);
    covered = turns.length - 1;
    return { summary: withTail(snapshot, turns.slice(covered).flatMap(turnMessages)) };
  };
}
