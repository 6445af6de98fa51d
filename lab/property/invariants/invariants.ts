import { refuseGeneration } from '#infra/fake-gemini/server/refusals.ts';
import { findCalls } from '#shared/conversation/context/tool-calls.ts';
import { contentText } from '#shared/models/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import { unguardedMerges } from '#test/support/compaction/commit-rules.ts';
import type { RunRecord } from '../run-program.ts';
import { PIN } from '../scripted-models.ts';
import { contextOnce, crossings } from './context-once.ts';
import type { Documents } from './documents.ts';
import { erasures } from './erasure.ts';
import { type Invariant, when, storedFaults } from './invariant.ts';
import { fieldOf, isConversation, isHistory, isJob, isTurn } from './journal-writes.ts';
import { erasedPreviews, listedEntries, readMarks, toldEntries } from './inbox.ts';
import { trueSnapshots } from './true-snapshots.ts';

/** Its owner had it erased, in whole or the answer alone. */
const isErased = ({ eraseTime }: Turn) => eraseTime !== undefined;

const transcript: Invariant = {
  name: 'I1 turns stand without a gap, and nothing acknowledged is missing or other than it was told',
  violations({ final, journal }) {
    const { conversation, turns } = final;
    if (conversation?.state === 'erased') return [];
    return [
      ...storedFaults(final, 'I1'),
      ...journal.acknowledged.flatMap(({ messageId, text, turn }) => {
        const stored = turns.find(({ seq }) => seq === turn.seq);
        if (!stored) return [`turn ${turn.seq} was acknowledged for ${messageId} and is gone`];
        return [
          ...when(stored.messageId !== messageId, `turn ${turn.seq} is not ${messageId} any more`),
          ...when(
            text !== undefined && !isErased(stored) && contentText(stored.user) !== text,
            `turn ${turn.seq} has another user text`,
          ),
          ...when(
            !isErased(stored) && JSON.stringify(stored.contents) !== JSON.stringify(turn.contents),
            `turn ${turn.seq} has another answer than was acknowledged`,
          ),
        ];
      }),
    ];
  },
};

const stepsBehindTurns: Invariant = {
  name: 'I1 the app’s step has run behind every turn that was answered, and nothing of it is left',
  violations({ final, initial, journal, stepsLeft }) {
    if (stepsLeft === undefined) return [];
    const { conversation, turns } = final;
    const isLive = conversation?.state === 'live';
    const answered = turns.filter(
      (turn) => turn.state === 'done' && !isErased(turn) && turn.seq > initial.marks.length,
    );
    const missing = answered.filter(({ seq }) => !journal.afterTurns.includes(turnId(seq)));
    return [
      ...when(
        stepsLeft > 0 && conversation?.state !== 'deleted',
        `${stepsLeft} steps behind turns are left`,
      ),
      ...when(
        isLive && missing.length > 0,
        `no step ran behind turns ${missing.map(({ seq }) => seq).join(',')}`,
      ),
    ];
  },
};

const histories: Invariant = {
  name: 'I3 generations rise by one, and histories are complete and never written twice',
  violations({ final, journal }) {
    const writes = journal.commits.flatMap((commit) => commit.writes);
    const generations = writes
      .filter(isConversation)
      .flatMap((write) => fieldOf(write, 'generation') ?? [])
      .map(Number);
    // Only an erasure may change a history; what it writes always tells whether its snapshot is gone.
    const changed = writes.filter(
      (write) =>
        isHistory(write) && write.op !== 'create' && fieldOf(write, 'snapshotTokens') === undefined,
    );
    return [
      ...changed.map(({ path }) => `${path} was written again`),
      ...storedFaults(final, 'I3'),
      ...when(
        generations.some((generation, i) => i > 0 && generation - (generations[i - 1] ?? 0) > 1) ||
          generations.some((generation, i) => generation < (generations[i - 1] ?? 0)),
        `the head went through generations ${generations.join(',')}`,
      ),
    ];
  },
};

/** States of histories that a worker makes; the others come with a change by the owner. */
const isSwap: ReadonlySet<unknown> = new Set(['COMPACTED', 'CONTENT_TRUNCATED']);

/** Records of swaps against the generations that they made. */
function wrongRecords({ job, histories: stored }: Documents): string[] {
  if (!job) return [];
  const swaps = stored.filter(({ state }) => isSwap.has(state));
  const records = job.records.filter(({ generation }) => generation !== undefined);
  const generations = records.map(({ generation }) => generation);
  return [
    ...when(job.fence < swaps.length, `the fence is ${job.fence} after ${swaps.length} swaps`),
    ...records.flatMap(({ generation, requestId }, index) => [
      ...when(
        generations.indexOf(generation) !== index,
        `two records made generation ${generation}`,
      ),
      ...when(
        stored.find((history) => history.generation === generation)?.requestId !== requestId,
        `generation ${generation} is not of the request that its record names`,
      ),
    ]),
  ];
}

const fence: Invariant = {
  name: 'I4 only the worker that holds the lease swaps, and from the generation it read',
  violations({ final, journal }) {
    const found = wrongRecords(final);
    let owner = '';
    for (const { writes, process } of journal.commits) {
      const created = writes.find(
        (write) => isHistory(write) && isSwap.has(fieldOf(write, 'state')),
      );
      const by = created && fieldOf(created, 'by');
      if (created && by !== owner)
        found.push(
          `${process} swapped as ${JSON.stringify(by)} while ${owner || 'nobody'} held the lease`,
        );
      const next = writes.filter(isJob).flatMap((write) => fieldOf(write, 'owner') ?? []);
      if (typeof next[0] === 'string') owner = next[0];
    }
    return found;
  },
};

const onePerMessage: Invariant = {
  name: 'I5 a message id is one turn with one terminal answer, and an attempt one model call',
  violations({ final, journal, initial }) {
    const calls = (seq: number) =>
      journal.chatCalls.filter(({ promptId }) => promptId === `t_${seq}`).length;
    const ends = journal.commits
      .flatMap(({ writes }) => writes)
      .filter((write) => isTurn(write) && fieldOf(write, 'state') === 'done')
      .map(({ path }) => path);
    return [
      ...storedFaults(final, 'I5'),
      ...final.turns.flatMap(({ seq, attempt, rounds }) =>
        when(
          seq > initial.marks.length && calls(seq) > attempt + (rounds?.count ?? 0),
          `turn ${seq} took ${calls(seq)} model calls in ${attempt} attempts and ${rounds?.count ?? 0} rounds`,
        ),
      ),
      ...ends
        .filter((path, index) => ends.indexOf(path) !== index)
        .map((path) => `${path} was answered twice`),
    ];
  },
};

const takenResults: Invariant = {
  name: 'I5 what the app said to a call and was told is taken stands, and nothing else',
  violations: ({ final: { turns }, journal }) =>
    journal.taken.flatMap(({ seq, index, response }) => {
      const stored = turns.find((turn) => turn.seq === seq);
      if (!stored || isErased(stored)) return [];
      const call = findCalls(stored.contents)[index];
      return when(
        JSON.stringify(call?.response) !== JSON.stringify(response),
        `call ${index} of turn ${seq} was answered ${JSON.stringify(response)} and has ${JSON.stringify(call?.response)}`,
      );
    }),
};

const acceptedPrompts: Invariant = {
  name: 'I10 every prompt is one that the model takes: whole pairs of calls and responses, in order',
  violations: ({ journal }) =>
    journal.chatCalls.flatMap(({ promptId, contents }) => {
      const body = { contents: structuredClone([...contents]) };
      const refusal = refuseGeneration({
        model: 'gemini-2.5-flash',
        body,
        promptTokens: 0,
        windowTokens: 1,
      });
      return refusal ? [`the prompt of ${promptId} is refused: ${refusal.message}`] : [];
    }),
};

const settledRequests: Invariant = {
  name: 'I6 no need stays unsettled',
  violations: ({ settled, final }) =>
    [settled, final].flatMap(({ conversation }) =>
      when(
        // `declined` asks for nothing: it lets the next one wait.
        Object.values({ ...conversation?.compactionRequests, declined: undefined }).some(
          (need) => need !== undefined,
        ),
        'a need is left in the head',
      ),
    ),
};

const pins: Invariant = {
  name: 'I8 pins stand in every prompt',
  violations({ initial, journal }) {
    if (initial.marks.length === 0) return [];
    const without = journal.chatCalls.filter(
      ({ contents }) => !contents.some((content) => contentText(content).includes(PIN)),
    );
    return without.map(({ promptId }) => `the prompt of ${promptId} lacks the pin`);
  },
};

const sameContext: Invariant = {
  name: 'I9 every server shows the context that the next call sends',
  violations({ shown, lastCall }) {
    const [cold, ...warm] = shown;
    if (!cold) return [];
    const wanted = JSON.stringify(cold.contents);
    return [
      ...warm
        .filter(({ contents }) => JSON.stringify(contents) !== wanted)
        .map(({ server }) => `${server} shows another context than a server without a cache`),
      ...when(
        lastCall !== undefined && JSON.stringify(lastCall.contents.slice(0, -1)) !== wanted,
        'the call was sent another context than was shown before',
      ),
    ];
  },
};

const cleanErrors: Invariant = {
  name: 'I10 whatever fails ends in a clear error, and everything can go on',
  violations({ stuck, journal }) {
    const unclear = journal.errors.filter(
      ({ error }) => !(error instanceof AppError) || error.reason === 'INTERNAL',
    );
    return [...stuck, ...unclear.map(({ action, error }) => `${action}: ${String(error)}`)];
  },
};

const usable: Invariant = {
  name: 'I10 a conversation at rest takes another message, whatever has been said in it',
  violations: ({ settled, lastCall, isLastSent }) =>
    when(
      isLastSent === true && settled.conversation?.state === 'live' && lastCall === undefined,
      'the last message reached no model',
    ),
};

/**
 * A merge has no guard: where its batch relies on nothing that was read, it may come after the erasure of its conversation,
 * and bring back an entry of it.
 */
const guardedMerges: Invariant = {
  name: 'I12 merges stand only in batches that something holds back which was read',
  violations: ({ journal }) =>
    journal.commits.flatMap(({ writes }, index) =>
      unguardedMerges(writes).map((fault) => `commit ${index + 1}: ${fault}`),
    ),
};

const invariants: readonly Invariant[] = [
  transcript,
  stepsBehindTurns,
  contextOnce,
  histories,
  fence,
  onePerMessage,
  takenResults,
  acceptedPrompts,
  settledRequests,
  crossings,
  erasures,
  pins,
  sameContext,
  cleanErrors,
  usable,
  trueSnapshots,
  guardedMerges,
  listedEntries,
  readMarks,
  erasedPreviews,
  toldEntries,
];

/** All that is wrong with a run, by the name of the invariant. */
export const violationsOf = (record: RunRecord): string[] =>
  invariants.flatMap(({ name, violations }) =>
    violations(record).map((violation) => `${name}: ${violation}`),
  );
