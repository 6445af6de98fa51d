import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { viewOfNextCall } from '../../functions/src/chat/send/next-call.ts';
import { policyOf } from '../../functions/src/conversation-policy.ts';
import { compactionNeed } from '../../shared/compaction/crossing.ts';
import { assembleContext } from '../../shared/conversation/assemble-context.ts';
import { isTerminal } from '../../shared/conversation/turn.ts';
import type { Config } from '../../functions/src/config.ts';
import type { Finding } from './check-transcripts.ts';
import { type StoredConversation, unrest } from './stored-conversation.ts';

/** What `GET …/context` showed, as far as it is compared. */
export interface ShownContext {
  generation: number;
  /** Present when it is a shrunken view. */
  shrunken?: unknown;
  items: readonly { kind: string; seq?: number | undefined; content: unknown }[];
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * Whether the shown context is the one that the documents make, instruction and tools aside: the assembled
 * one, or over the hard threshold its shrunken view.
 */
export function isSameContext(
  stored: StoredConversation,
  shown: ShownContext,
  config: Config,
): boolean {
  const { head, contextParts } = stored;
  const source = { ...head, ...contextParts };
  const isShrunken = shown.shrunken !== undefined;
  const expected = isShrunken
    ? viewOfNextCall({ config, sha256 }, source).items
    : assembleContext(source);
  const found = shown.items
    .filter(({ kind }) => kind !== 'system' && kind !== 'tools')
    .map(({ kind, seq, content }) => ({ kind, seq, content }));
  return (
    shown.generation === head.generation &&
    isDeepStrictEqual(
      asJson(found),
      asJson(expected.map(({ kind, seq, content }) => ({ kind, seq, content }))),
    )
  );
}

function checkHistories({ conversationId, head, histories }: StoredConversation): Finding[] {
  const findings: Finding[] = [];
  const add = (kind: Finding['kind'], what: string) =>
    findings.push({ kind, conversationId, what });
  for (let generation = 1; generation <= head.generation; generation += 1)
    if (!histories[generation - 1]) add('lost', `generation ${generation} has no history`);
  if (histories[head.generation])
    add('doubled', `generation ${head.generation + 1} is stored, the head is one behind`);
  const current = histories[head.generation - 1];
  if (current && !isDeepStrictEqual(current.coveredThrough, head.coveredThrough))
    add('mismatched', 'head and history name different last folded turns');
  return findings;
}

function checkTurns({ conversationId, head, turns }: StoredConversation): Finding[] {
  const open = turns.filter(({ state }) => !isTerminal(state));
  return [
    ...open.map(({ seq, state }): Finding => ({
      kind: 'unfinished',
      conversationId,
      what: `turn ${seq} is ${state}`,
    })),
    ...(turns.length === head.lastSeq
      ? []
      : ([
          {
            kind: 'lost',
            conversationId,
            what: `${turns.length} turns are stored, lastSeq is ${head.lastSeq}`,
          },
        ] satisfies Finding[])),
  ];
}

/** One message is answered at a time, in the order of seq. */
function checkOrder({ conversationId, turns }: StoredConversation): Finding[] {
  let latest: { seq: number; atMs: number } | undefined;
  const findings: Finding[] = [];
  for (const { seq, state, finishTime } of turns) {
    if (state !== 'done' || !finishTime) continue;
    const atMs = finishTime.getTime();
    if (latest && atMs < latest.atMs) {
      const what = `turn ${seq} was answered before turn ${latest.seq}`;
      findings.push({ kind: 'mismatched', conversationId, what });
    }
    latest = { seq, atMs };
  }
  return findings;
}

/**
 * A threshold that was crossed without a need, a record or a generation. The last turn must have been
 * finished in peace: then either it noted a need, and the job tells what became of it, or there was none.
 */
function checkForgottenNeed(stored: StoredConversation, config: Config): Finding[] {
  const { conversationId, head, job, turns } = stored;
  const last = turns.at(-1);
  if (!last?.inContext || last.state !== 'done' || head.context.seq !== last.seq) return [];
  const isDue = compactionNeed({
    head: { settings: head.settings, compactionNeeded: {} },
    history: stored.contextParts.history,
    meter: head.context,
    isOverflow: false,
    policy: policyOf(config, head),
    requestId: '',
    now: last.createTime,
  });
  const isServed = (job?.records ?? []).some(({ finishedAt }) => finishedAt >= last.createTime);
  const isWaiting = head.compactionNeeded.auto ?? head.compactionNeeded.manual;
  if (!isDue || isServed || isWaiting || head.generation !== head.context.generation) return [];
  return [
    {
      kind: 'unfinished',
      conversationId,
      what: `${head.context.tokens} tokens crossed the threshold and nothing came of it`,
    },
  ];
}

/** What is wrong with the documents of one conversation that should be at rest. */
export function checkStored(stored: StoredConversation, config: Config): Finding[] {
  const { conversationId } = stored;
  return [
    ...unrest(stored).map((what): Finding => ({ kind: 'unfinished', conversationId, what })),
    ...checkTurns(stored),
    ...checkOrder(stored),
    ...checkHistories(stored),
    ...checkForgottenNeed(stored, config),
  ];
}
