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

/** How many needs stand in the head after these writes to it, in order. */
function needsAfter(writes: readonly Write[]): number {
  const needs = new Set<string>();
  for (const write of writes.filter(isHead)) {
    if (write.op === 'delete') continue;
    const whole = write.fields['compactionNeeded'];
    if (typeof whole === 'object' && whole !== null)
      for (const kind of Object.keys(whole)) needs.add(`compactionNeeded.${kind}`);
    for (const field of Object.keys(write.fields))
      if (field.startsWith('compactionNeeded.')) needs.add(field);
    if (write.op === 'update') for (const field of write.remove ?? []) needs.delete(field);
  }
  return needs.size;
}

const touchesNeed = (write: Write) =>
  isHead(write) &&
  write.op === 'update' &&
  [...Object.keys(write.fields), ...(write.remove ?? [])].some(
    (field) => field === 'generation' || field === 'settings' || field.startsWith('compaction'),
  );

/**
 * Whether the newest turn in the context has to have asked for a compaction if one is due: it saw the
 * head that it finished on, and what came after it is no reason. A turn that is overtaken by a swap or by
 * another threshold, or that began while a need was waiting, leaves the question to the next one; so does
 * an owner who goes back to another generation or takes the conversation out of the bin.
 */
function mustHaveAsked({ initial, journal }: RunRecord, turns: readonly Turn[]): boolean {
  const { commits } = journal;
  const newest = turns.findLast(({ inContext }) => inContext);
  if (!newest) return false;
  const isFinish = (write: Write) =>
    write.path === turnPath(CONVERSATION, newest.seq) && fieldOf(write, 'inContext') === true;
  const finish = commits.findLastIndex(({ writes }) => writes.some(isFinish));
  const start = commits.findLastIndex(
    ({ writes }, index) => index < finish && writes.some((write) => isOpening(write, newest.seq)),
  );
  if (start === -1) return false;
  const before = commits.slice(0, start).flatMap(({ writes }) => writes);
  if (needsAfter([...initial.writes, ...before]) > 0) return false;
  const during = commits.slice(start + 1, finish).flatMap(({ writes }) => writes);
  const after = commits.slice(finish + 1).flatMap(({ writes }) => writes);
  const isTold = after.some((write) => isJob(write) && fieldOf(write, 'records') !== undefined);
  const isOverruled = after.some(
    (write) =>
      isHead(write) &&
      ['settings', 'state', 'compactionNeeded'].some(
        (field) => fieldOf(write, field) !== undefined,
      ),
  );
  return !during.some(touchesNeed) && !isTold && !isOverruled;
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
      isDue(head, final) && mustHaveAsked(record, final.turns),
      'the threshold is crossed, and there is neither a compaction nor a reason',
    );
  },
};
