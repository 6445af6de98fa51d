import {
  brakeOn,
  jobBrakes,
  sizeBrakes,
  spentAfter,
  unproductiveSwapsAfter,
} from '#shared/compaction/brake.ts';
import { isOverThreshold, resolvePolicy } from '#shared/compaction/policy.ts';
import { tailLimits, tailStart } from '#shared/compaction/split-by-tail.ts';
import type { Spent } from '#shared/conversation/documents/job.ts';
import { costMicros } from '#shared/models/find-price.ts';
import { findModel } from '#shared/models/model-entry.ts';
import { decideReservation } from '#shared/quota/reserve-decision.ts';
import { takenBy, usageAfter, usageAfterCall, noUsage, type Usage } from '#shared/quota/usage.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { beforeAll, describe, expect, test } from 'vitest';

/*
 * S5: messages that are sized so that every one of them, or as many as can, leads to a compaction. A day of
 * one user in one conversation, with the decisions of quota and compaction and the list prices: what each
 * token of the day's quota comes to in dollars, compactions included. The worst is assumed where the sizes
 * decide nothing: nothing is cached after a swap, every snapshot takes its whole budget, every compaction
 * is written twice, and a turn that is too large for the tail leaves a full tail.
 */

const MODEL = 'gemini-3.8-flash';
/** What the summariser is told beside the conversation. */
const INSTRUCTION_TOKENS = 2_500;
/** A prompt shorter than this is not cached. */
const CACHED_FROM_TOKENS = findModel(verifiedModels.models, MODEL)?.cacheFromTokens ?? Infinity;
const limits = {
  messagesPerDay: 200,
  tokensPerDay: 500_000,
  requestsPerMinute: 30,
  creationsPerDay: 0,
  streams: 3,
  costMicrosPerDay: 5_000_000,
};
const allowance = { runsPerHour: 6, dailyTokens: 2_000_000 };
const start = new Date('2026-01-02T00:00:00.000Z');

interface Pattern {
  /** Tokens of the messages, over and over. */
  sizes: readonly number[];
  answerTokens: number;
  thresholdTokens?: number | undefined;
  /** Between two messages. */
  pauseMs: number;
}

interface Conversation {
  turns: number[];
  /** What stands in front of the turns: the snapshot. */
  snapshotTokens: number;
  cachedTokens: number;
  history: { generation: number; afterTokens: number; unproductiveSwaps: number } | undefined;
  spent: Spent | undefined;
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const contextOf = ({ snapshotTokens, turns }: Conversation) => snapshotTokens + total(turns);

function policyOf({ thresholdTokens }: Pattern) {
  const conversation = thresholdTokens === undefined ? {} : { thresholdTokens };
  return resolvePolicy({ model: MODEL, conversation });
}

type Policy = ReturnType<typeof policyOf>;

function isDue(conversation: Conversation, policy: Policy, now: Date): boolean {
  const { history, spent } = conversation;
  const tokens = contextOf(conversation);
  const brakes = [
    ...sizeBrakes({ history, declined: undefined, policy }),
    ...jobBrakes({ failures: 0, spent }, allowance, now),
  ];
  return (
    isOverThreshold({ tokens, overheadTokens: 0, policy }) &&
    !brakeOn(brakes, { trigger: 'auto', now, tokens })
  );
}

/** The tail that stays, by the sizes alone. */
function tailOf(turns: readonly number[], policy: Policy): number[] {
  const tailSizes = tailLimits(policy, { tokens: total(turns), calibration: 1 });
  const sized = turns.map((tokens, i) => ({
    seq: i + 1,
    userTokens: tokens,
    blocks: [],
    tokens,
    isDropped: false,
    isResponse: false,
  }));
  const tail = turns.slice(tailStart(sized, tailSizes));
  return total(tail) > tailSizes.turnCapTokens ? [Math.ceil(tailSizes.targetTokens)] : tail;
}

/** A compaction, and what it costs. */
function compact(conversation: Conversation, policy: Policy, now: Date) {
  const beforeTokens = contextOf(conversation);
  const turns = tailOf(conversation.turns, policy);
  const snapshotTokens = policy.snapshotBudgetTokens;
  const afterTokens = snapshotTokens + total(turns);
  const promptTokens = beforeTokens + INSTRUCTION_TOKENS;
  const call = { model: MODEL, promptTokens, cachedTokens: 0 };
  const micros = 2 * costMicros({ ...call, outputTokens: snapshotTokens }, verifiedModels);
  const tokens = 2 * (promptTokens + snapshotTokens);
  const unproductiveSwaps = unproductiveSwapsAfter(conversation.history, {
    beforeTokens,
    afterTokens,
    policy,
  });
  const after: Conversation = {
    turns,
    snapshotTokens,
    cachedTokens: 0,
    history: { generation: 1, afterTokens, unproductiveSwaps },
    spent: spentAfter(conversation.spent, { at: now, tokens }),
  };
  return { after, bill: { tokens, costMicros: micros } };
}

/** What a day comes to before the limits end it. */
function simulate(pattern: Pattern) {
  const policy = policyOf(pattern);
  let usage: Usage = noUsage;
  let conversation: Conversation = {
    turns: [],
    snapshotTokens: 0,
    cachedTokens: 0,
    history: undefined,
    spent: undefined,
  };
  const { answerTokens, pauseMs } = pattern;
  for (let i = 0; ; i++) {
    const now = new Date(start.getTime() + i * pauseMs);
    const userTokens = pattern.sizes[i % pattern.sizes.length] ?? 0;
    const promptTokens = contextOf(conversation) + userTokens;
    const wanted = {
      id: `c/${i}`,
      attempt: 1,
      conversation: 'c',
      holder: 'request',
      tokens: promptTokens + 500,
      costMicros: 0,
    };
    const asked = { usage, limits, wanted, abandoned: [], holdMs: 320_000, now };
    const decision = decideReservation(asked);
    if (decision.kind === 'refused' || now.getTime() - start.getTime() > 86_400_000) break;
    const cachedTokens =
      conversation.cachedTokens >= CACHED_FROM_TOKENS ? conversation.cachedTokens : 0;
    const call = { promptTokens, cachedTokens, outputTokens: answerTokens, thoughtsTokens: 0 };
    const micros = costMicros({ model: MODEL, ...call }, verifiedModels);
    const taken = takenBy({ usage: call, costMicros: micros, isMessage: true }, wanted);
    usage = usageAfter(decision.usage, wanted, { taken, now });
    conversation = {
      ...conversation,
      turns: [...conversation.turns, userTokens + answerTokens],
      cachedTokens: promptTokens,
    };
    if (!isDue(conversation, policy, now)) continue;
    const { after, bill } = compact(conversation, policy, now);
    conversation = after;
    usage = usageAfterCall(usage, { work: 'compactions', isMore: false, id: '', ...bill });
  }
  const spentMicros = usage.costMicros + usage.compactions.costMicros;
  return { usage, spentMicros, microsPerToken: spentMicros / usage.tokens };
}

/** Reproducible numbers in [0, 1). */
function createRandom(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** From one token to the most that a message of 256 KiB can have, all magnitudes alike. */
const sizeOf = (random: () => number) => Math.round(Math.exp(random() * Math.log(65_536)));

const oneOf = <T>(random: () => number, values: readonly T[]): T | undefined =>
  values[Math.floor(random() * values.length)];

describe('S5: ten thousand patterns of sizes', () => {
  const random = createRandom(20_260_102);
  let days: ReturnType<typeof simulate>[] = [];
  beforeAll(() => {
    days = Array.from({ length: searchCases(10_000) }, () =>
      simulate({
        sizes: Array.from({ length: 1 + Math.floor(random() * 4) }, () => sizeOf(random)),
        answerTokens: oneOf(random, [1, 20, 300]) ?? 1,
        pauseMs: oneOf(random, [2_000, 30_000, 430_000]) ?? 2_000,
        // A user may have it compacted earlier than the deployment does.
        thresholdTokens: oneOf(random, [undefined, undefined, 1_000, 4_000]),
      }),
    );
  });
  const honest = simulate({ sizes: [200], answerTokens: 300, pauseMs: 30_000 });

  test('S5: ten thousand size patterns cost at most twice honest use per quota token', () => {
    const worst = Math.max(...days.map(({ microsPerToken }) => microsPerToken));

    expect(worst / honest.microsPerToken).toBeLessThanOrEqual(2);
  });

  test('S5: ten thousand size patterns cost a day at most the user’s limit plus one turn', () => {
    const lastMicros = 500_000;
    const worst = Math.max(...days.map(({ spentMicros }) => spentMicros));

    expect(worst).toBeGreaterThan(honest.spentMicros);
    expect(worst).toBeLessThanOrEqual(limits.costMicrosPerDay + lastMicros);
  });
});
