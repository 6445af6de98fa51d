import { policyOf } from '../../functions/src/conversation-policy.ts';
import { isArmed, isOverThreshold } from '../../shared/compaction/policy.ts';
import type { Head } from '../../shared/conversation/head.ts';
import { contextTokens } from '../../shared/conversation/meter.ts';
import { turnPath } from '../../shared/conversation/paths.ts';
import { isTerminal, type Turn } from '../../shared/conversation/turn.ts';
import type { Write } from '../../shared/ports.ts';
import type { Documents } from './documents.ts';
import { CONVERSATION } from './initial-state.ts';
import { when, type Invariant } from './invariant.ts';
import { fieldOf, isHead, isJob } from './journal-writes.ts';
import type { RunRecord } from './run-program.ts';
import { config } from './world.ts';

/** Whether the newest outcome says why this very context was not compacted. */
function isTold(head: Head, documents: Documents): boolean {
  const history = documents.histories.find(({ generation }) => generation === head.generation);
  const turns = documents.turns.filter(
    ({ seq, state }) => seq > head.coveredThrough.seq && isTerminal(state),
  );
  const { tokens } = contextTokens({ head, history, turns });
  const record = documents.job?.records.findLast(({generation}) => generation === undefined);
  return record !== undefined && record.beforeTokens === tokens;
}

/** Whether a conversation would ask for a compaction if a turn ended now. */
function isDue(head: Head, documents: Documents): boolean {
  const history = documents.histories.find(({ generation }) => generation === head.generation);
  const policy = policyOf(config, head);
  const turns = documents.turns.filter(
    ({ seq, state }) => seq > head.coveredThrough.seq && isTerminal(state),
  );
  const { tokens } = contextTokens({ head, history, turns });
  const { overheadTokens } = head.context;
  return (
    isOverThreshold({ tokens, overheadTokens, policy }) &&
    isArmed({ tokens, tokensAfterLastSwap: history?.afterTokens ?? null, policy })
  );
}

const isSettings = (write: Write) => isHead(write) && fieldOf(write, 'settings') !== undefined;

function mustHaveAsked({ journal, final }: RunRecord, turns: readonly Turn[]): boolean {
  const { commits } = journal;
  const newest = turns.findLast(({ inContext }) => inContext);
  if (!newest) return false;
  const start = commits.findIndex(({ writes }) =>
    writes.some((write) => isOpening(write, newest.seq)),
  );
  const since = commits.slice(start + 1).flatMap(({ writes }) => writes);
  return !since.some(isSettings);
}

function isOpening(write: Write, seq: number): boolean {
  const open = isHead(write) ? fieldOf(write, 'open') : undefined;
  return typeof open === 'object' && open !== null && 'seq' in open && open.seq === seq;
}

export const crossings: Invariant = {
  name: 'I6 a crossing leads to a compaction or to a recorded reason',
  needsOrder: true,
  violations(record) {
    const { final } = record;
    const { head } = final;
    if (head?.state !== 'live') return [];
    return when(
      isDue(head, final) && !isTold(head, final) && mustHaveAsked(record, final.turns),
      'the threshold is crossed, and there is neither a compaction nor a reason',
    );
  },
};
