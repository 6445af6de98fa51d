import { z } from 'zod';
import { HOOK_TIMEOUT_MS, type CompactionHookEvent } from '../../../shared/compaction/hooks.ts';
import {
  estimateContextTokens,
  type FoldPlan,
  type Plan,
} from '../../../shared/compaction/plan.ts';
import type { Hook } from '../../../shared/hooks/hook.ts';
import { runHook } from '../run-hook.ts';
import { hooksOf } from './hooks-of.ts';
import { storeHookPins, type ReturnedPins } from './hook-pins.ts';
import { unchanged, type Outcome } from './outcome.ts';
import { contextOf, type ClaimedRun } from './run.ts';

function eventOf(run: ClaimedRun, plan: Pick<FoldPlan, 'from' | 'upTo'> & { folded: number }) {
  const { conversationId, head, policy } = run.reading;
  const { calibration } = head.value.context;
  const event: CompactionHookEvent = {
    conversationId,
    requestId: run.need.requestId,
    trigger: run.need.trigger,
    generation: head.value.generation,
    from: plan.from,
    upTo: plan.upTo,
    turnsFolded: plan.folded,
    beforeTokens: estimateContextTokens(contextOf(run), { policy, calibration }),
  };
  return event;
}

/** What hooks learn of a plan; a plan that does nothing fires none. */
function plannedEvent(run: ClaimedRun, plan: Plan): CompactionHookEvent | undefined {
  const coveredSeq = run.reading.head.value.coveredThrough.seq;
  switch (plan.kind) {
    case 'noop':
      return undefined;
    case 'truncate':
      return eventOf(run, { from: 0, upTo: coveredSeq, folded: 0 });
    case 'fold':
      return eventOf(run, { ...plan, folded: plan.folded.length });
  }
}

const runHookOf = <Event, Answer>(
  run: ClaimedRun,
  hook: Hook<Event, Answer>,
  event: Event,
): Promise<Answer | undefined> => {
  const { clock, logger } = run.dependencies;
  const asked = {
    clock,
    logger,
    signal: run.signal,
    timeoutMs: HOOK_TIMEOUT_MS,
    conversationId: run.reading.conversationId,
    failedEvent: 'compaction_hook_failed',
    publicMessage: 'A required step before the compaction failed.',
  };
  return runHook(asked, hook, event);
};

/** Nothing holds the code of an operator to the type. Each pin is looked at by itself. */
const answerSchema = z.object({
  veto: z.boolean().optional(),
  pins: z.array(z.unknown()).optional(),
});

/** What the PreCompact hooks lead to: the end by a veto, or the run with what they pinned. */
export type Prepared = { kind: 'vetoed'; outcome: Outcome } | { kind: 'go'; run: ClaimedRun };

/**
 * Runs the PreCompact hooks in order, up to a veto, and stores what they pin. Throws AppError of a required
 * hook that failed, and what storing throws.
 */
export async function runPreCompactHooks(run: ClaimedRun, plan: Plan): Promise<Prepared> {
  const { preCompact } = hooksOf(run);
  const event = preCompact.length === 0 ? undefined : plannedEvent(run, plan);
  if (!event) return { kind: 'go', run };
  const returned: ReturnedPins[] = [];
  let isVetoed = false;
  for (const hook of preCompact) {
    const checked = {
      ...hook,
      run: async (...of: Parameters<typeof hook.run>) =>
        answerSchema.parse((await hook.run(...of)) ?? {}),
    };
    const answer = await runHookOf(run, checked, event);
    if (answer?.pins) returned.push({ hook: hook.name, pins: answer.pins });
    isVetoed = answer?.veto === true;
    if (isVetoed) break;
  }
  const pinned = await storeHookPins(run, returned);
  if (!isVetoed) return { kind: 'go', run: pinned };
  const outcome = unchanged(run.reading.tokens, { state: 'NOOP', reason: 'VETOED' });
  return { kind: 'vetoed', outcome };
}

/** Runs the PostCompact hooks in order. What they do changes nothing any more: no failure is thrown. */
export async function runPostCompactHooks(
  run: ClaimedRun,
  plan: Plan,
  outcome: Outcome,
): Promise<void> {
  const { postCompact } = hooksOf(run);
  const event = postCompact.length === 0 ? undefined : plannedEvent(run, plan);
  if (!event) return;
  const { state, beforeTokens, afterTokens, reason } = outcome;
  const result = {
    ...event,
    state,
    beforeTokens,
    afterTokens,
    ...(reason !== undefined && { reason }),
  };
  for (const hook of postCompact)
    try {
      await runHookOf(run, hook, result);
    } catch {
      run.dependencies.logger.log('ERROR', 'compaction_hook_required_after', {
        conversationId: event.conversationId,
        hook: hook.name,
      });
    }
}
