import { z } from 'zod';
import {
  HOOK_TIMEOUT_MS,
  type CompactionHookEvent,
  type PreCompactEvent,
  noHooks,
  type CompactionHooks,
} from '#shared/compaction/summariser/hooks.ts';
import type { FoldPlan, Plan } from '#shared/compaction/split/plan.ts';
import { tokenCounting, estimateContextTokens } from '#shared/compaction/split/context-tokens.ts';
import { chooseNotes, type HookNote } from '#shared/compaction/summariser/hook-notes.ts';
import { foldedTurnsAccess } from '#shared/hooks/folded-turns.ts';
import type { Hook } from '#shared/hooks/webhook.ts';
import { runHook } from '#functions/lib/run-hook.ts';
import { storeHookPins, type ReturnedPins } from './hook-pins.ts';
import { unchanged, type Outcome } from './outcome.ts';
import { runContext, summariserOfRun, type ClaimedRun, type Run } from './run.ts';

/** The hooks of a run: the deployment's, then the remote document's, then the conversation's. */
function selectHooks({ dependencies, reading }: Pick<Run, 'dependencies' | 'reading'>) {
  const { hooks = noHooks, webhooks, config } = dependencies;
  const remote = config.remotePolicy?.hooks() ?? [];
  const own = reading.conversation.value.settings.hooks ?? [];
  const called = webhooks?.([...remote, ...own]) ?? noHooks;
  const all: CompactionHooks = {
    preCompact: [...hooks.preCompact, ...called.preCompact],
    postCompact: [...hooks.postCompact, ...called.postCompact],
  };
  return all;
}

/** A run whose hooks are asked. */
type HookedRun = Run & Pick<ClaimedRun, 'signal'>;

function eventOf(run: Run, plan: Pick<FoldPlan, 'from' | 'upTo'> & { folded: number }) {
  const { conversationId, conversation, policy } = run.reading;
  const { calibration } = conversation.value.context;
  const event: CompactionHookEvent = {
    conversationId,
    requestId: run.need.requestId,
    trigger: run.need.trigger,
    generation: conversation.value.generation,
    from: plan.from,
    upTo: plan.upTo,
    turnsFolded: plan.folded,
    beforeTokens: estimateContextTokens(runContext(run), { policy, calibration }),
  };
  return event;
}

/** Of a run that folds no turn. */
const foldlessEvent = (run: Run): CompactionHookEvent =>
  eventOf(run, { from: 0, upTo: run.reading.conversation.value.coveredThrough.seq, folded: 0 });

/** What hooks learn of a plan; a plan that does nothing fires none. */
function plannedEvent(run: Run, plan: Plan): CompactionHookEvent | undefined {
  switch (plan.kind) {
    case 'noop':
      return undefined;
    case 'truncate':
      return foldlessEvent(run);
    case 'fold':
      return eventOf(run, { ...plan, folded: plan.folded.length });
  }
}

/** The event, with what the turns that go can be read with. */
function withAccess(run: ClaimedRun, event: CompactionHookEvent): PreCompactEvent {
  const { conversationId, generation, from, upTo, turnsFolded } = event;
  if (turnsFolded === 0) return event;
  const { signer, clock } = run.dependencies;
  const range = { epoch: run.reading.conversation.value.epoch, generation, from, upTo };
  return {
    ...event,
    foldedTurns: foldedTurnsAccess(signer, { conversationId, range }, clock.now()),
  };
}

const runHookOf = <Event, Answer>(
  run: HookedRun,
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
  note: z.string().optional(),
});

/** The run with what the hooks tell the summariser. */
function withNotes(run: ClaimedRun, given: readonly HookNote[]): ClaimedRun {
  if (given.length === 0) return run;
  const { conversationId, policy, conversation } = run.reading;
  const { windowTokens } = summariserOfRun(run);
  const counting = tokenCounting(policy, conversation.value.model);
  const { notes, leftOut } = chooseNotes(given, { windowTokens, counting });
  for (const each of leftOut)
    run.dependencies.logger.log('WARNING', 'compaction_hook_note_left_out', {
      conversationId,
      ...each,
    });
  return { ...run, notes };
}

/** What the PreCompact hooks lead to: the end by a veto, or the run with what they pinned and noted. */
type Prepared = { kind: 'vetoed'; outcome: Outcome } | { kind: 'go'; run: ClaimedRun };

/**
 * Runs the PreCompact hooks in order, up to a veto, and stores what they pin. Throws AppError of a required
 * hook that failed, and what storing throws.
 */
export async function runPreCompactHooks(run: ClaimedRun, plan: Plan): Promise<Prepared> {
  const { preCompact } = selectHooks(run);
  const planned = preCompact.length === 0 ? undefined : plannedEvent(run, plan);
  if (!planned) return { kind: 'go', run };
  const event = withAccess(run, planned);
  const returned: ReturnedPins[] = [];
  const notes: HookNote[] = [];
  let isVetoed = false;
  for (const hook of preCompact) {
    const checked = {
      ...hook,
      run: async (...parameters: Parameters<typeof hook.run>) =>
        answerSchema.parse((await hook.run(...parameters)) ?? {}),
    };
    const answer = await runHookOf(run, checked, event);
    if (answer?.pins) returned.push({ hook: hook.name, pins: answer.pins });
    if (answer?.note !== undefined) notes.push({ hook: hook.name, text: answer.note });
    isVetoed = answer?.veto === true;
    if (isVetoed) break;
  }
  const pinned = await storeHookPins(run, returned);
  if (!isVetoed) return { kind: 'go', run: withNotes(pinned, notes) };
  const outcome = unchanged(run.reading.tokens, { state: 'NOOP', reason: 'VETOED' });
  return { kind: 'vetoed', outcome };
}

/**
 * Tells the PreCompact hooks of a run that ends as NOOP without one having been asked: in the profile `gemini-cli`
 * alone, as that program fires its hook before it decides. Nothing comes of what they answer, nor of a failure.
 */
export async function reportNoop(run: HookedRun): Promise<void> {
  const { conversation, turns, history } = run.reading;
  const isEmpty = turns.length === 0 && history === undefined;
  if (conversation.value.profile !== 'gemini-cli' || isEmpty) return;
  for (const hook of selectHooks(run).preCompact)
    try {
      await runHookOf(run, hook, foldlessEvent(run));
    } catch {
      // It was required, or the worker is told to end: there is nothing that either could stop.
    }
}

/** Runs the PostCompact hooks in order. What they do changes nothing any more: no failure is thrown. */
export async function runPostCompactHooks(
  run: ClaimedRun,
  plan: Plan,
  outcome: Outcome,
): Promise<void> {
  const { postCompact } = selectHooks(run);
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
