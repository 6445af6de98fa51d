import { runHook } from '#functions/lib/run-hook.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import {
  HOOK_TIMEOUT_MS,
  type CompactionHookEvent,
  type CompactionHookResult,
  type PreCompactEvent,
  noHooks,
  type CompactionHooks,
  chooseNotes,
  type HookNote,
} from '#shared/compaction/hooks.ts';
import type { FoldPlan } from '#shared/compaction/plan.ts';
import { withHookPins, pinBudget } from '#shared/conversation/context/pins.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Pin } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { foldedTurnsAccess } from '#shared/hooks/folded-turns.ts';
import { toReadTurn } from '#shared/hooks/read-turn.ts';
import type { Hook } from '#shared/hooks/webhook.ts';
import type { Write } from '#shared/ports/ports.ts';
import { safeParse } from '#shared/lib/safe-parse.ts';
import { pinIdSchema, pinTextSchema } from '#shared/wire/resources/pins.ts';
import { refuseUnwanted } from './job-lease.ts';
import {
  AttemptEnded,
  summariserOfRun,
  withoutSwap,
  type ClaimedRun,
  type Outcome,
  type Run,
} from './run.ts';
import { z } from 'zod';

/**
 * Runs the PreCompact hooks in order, up to a veto, and stores what they pin. Returns the run with what they pinned and
 * noted. Throws AttemptEnded for a veto, AppError of a required hook that failed, and what storing throws.
 */
export async function runPreCompactHooks(run: ClaimedRun, plan: FoldPlan): Promise<ClaimedRun> {
  const { preCompact } = selectHooks(run);
  if (preCompact.length === 0) return run;
  const event = withAccess(run, eventOf(run, plan));
  const uid = run.reading.conversation.value.ownerUid;
  const turns = () => plan.folded.map(toReadTurn);
  const answers: HookAnswer[] = [];
  for (const hook of preCompact) {
    const checked = {
      ...hook,
      run: async (...parameters: Parameters<typeof hook.run>) =>
        answerSchema.parse((await hook.run(...parameters)) ?? {}),
    };
    answers.push({ hook: hook.name, ...(await runHookOf(run, checked, { event, uid, turns })) });
    if (answers.at(-1)?.veto === true) break;
  }
  const pinned = await storeHookPins(run, answers);
  if (answers.at(-1)?.veto === true)
    throw new AttemptEnded(withoutSwap(run.reading.tokens, { state: 'NOOP', reason: 'VETOED' }));
  const notes = answers.flatMap(({ hook, note }) =>
    note === undefined ? [] : [{ hook, text: note }],
  );
  return withNotes(pinned, notes);
}

/**
 * Runs the PreCompact hooks of a run that ends as NOOP without one having been asked: in the profile `gemini-cli`
 * alone, as that program fires its hook before it decides. Nothing comes of what they answer, nor of a failure.
 */
export async function runPreCompactHooksOfNoop(run: Run): Promise<void> {
  const { conversation, turns, history } = run.reading;
  const isEmpty = turns.length === 0 && history === undefined;
  if (conversation.value.profile !== 'gemini-cli' || isEmpty) return;
  const asked = { event: eventOf(run), uid: conversation.value.ownerUid, turns: () => [] };
  for (const hook of selectHooks(run).preCompact)
    try {
      await runHookOf(run, hook, asked);
    } catch {
      // It was required, or the worker is told to end: there is nothing that either could stop.
    }
}

/** What PostCompact hooks are told of a run for which turns were chosen. */
export const hookResult = (run: Run, plan: FoldPlan, outcome: Outcome): CompactionHookResult => {
  const { state, beforeTokens, afterTokens, reason } = outcome;
  const ended = { state, beforeTokens, afterTokens, ...(reason !== undefined && { reason }) };
  return { ...eventOf(run, plan), ...ended };
};

/** The same of a swap whose worker has died. */
export const hookResultOfSwap = (
  conversationId: string,
  history: History,
  { state }: CompactionRecord,
): CompactionHookResult => {
  const { requestId, trigger, parent, from, coveredThrough, turnsFolded } = history;
  const { beforeTokens, afterTokens } = history;
  const range = { generation: parent, from, upTo: coveredThrough.seq, turnsFolded };
  return { conversationId, requestId, trigger, ...range, state, beforeTokens, afterTokens };
};

/**
 * Runs the PostCompact hooks in order. What they do changes nothing any more: their failures are logged alone. Throws the
 * signal's reason where it fires before all have run.
 */
export async function runPostCompactHooks(
  run: HookedRun,
  event: CompactionHookResult,
): Promise<void> {
  const asked = { event, uid: run.reading.conversation.value.ownerUid };
  for (const hook of selectHooks(run).postCompact)
    try {
      run.signal.throwIfAborted();
      await runHookOf(run, hook, asked);
    } catch (error) {
      if (run.signal.aborted) throw error;
      run.dependencies.logger.log('ERROR', 'compaction_hook_required_after', {
        conversationId: event.conversationId,
        hook: hook.name,
      });
    }
}

// Asking a hook

/** The hooks of a run: the deployment's, then the remote document's. */
function selectHooks({ dependencies }: Pick<Run, 'dependencies'>) {
  const { hooks = noHooks, webhooks, config } = dependencies;
  const called = webhooks?.(config.remotePolicy?.hooks() ?? []) ?? noHooks;
  const all: CompactionHooks = {
    preCompact: [...hooks.preCompact, ...called.preCompact],
    postCompact: [...hooks.postCompact, ...called.postCompact],
  };
  return all;
}

/** What hooks learn of a plan; without one, of a run that folds no turn. */
function eventOf(run: Run, plan?: FoldPlan): CompactionHookEvent {
  const { conversationId, conversation, tokens } = run.reading;
  const { generation } = conversation.value;
  const { coveredThrough } = plan ?? conversation.value;
  return {
    conversationId,
    requestId: run.request.requestId,
    trigger: run.request.trigger,
    generation,
    from: plan?.from ?? 0,
    upTo: coveredThrough.seq,
    turnsFolded: plan?.folded.length ?? 0,
    beforeTokens: tokens,
  };
}

/** The event, with what the turns that go can be read with. */
function withAccess(run: ClaimedRun, event: CompactionHookEvent): PreCompactEvent {
  const { conversationId, generation, from, upTo, turnsFolded } = event;
  const { signer, clock } = run.dependencies;
  if (turnsFolded === 0 || !signer) return event;
  const range = { epoch: run.reading.conversation.value.epoch, generation, from, upTo };
  return {
    ...event,
    foldedTurns: foldedTurnsAccess(signer, { conversationId, range }, clock.now()),
  };
}

type HookedRun = Pick<Run, 'dependencies' | 'reading' | 'signal'>;

const runHookOf = <Event, Answer>(
  run: HookedRun,
  hook: Hook<Event, Answer>,
  event: Event,
): Promise<Answer | undefined> => {
  const { clock, logger } = run.dependencies;
  const limits = {
    clock,
    logger,
    signal: run.signal,
    timeoutMs: HOOK_TIMEOUT_MS,
    conversationId: run.reading.conversationId,
    failedEvent: 'compaction_hook_failed',
    publicMessage: 'A required step before the compaction failed.',
  };
  return runHook(limits, hook, event);
};

// What hooks answer

/** Nothing holds the code of an operator to the type. Each pin is looked at by itself. */
const answerSchema = z.object({
  veto: z.boolean().optional(),
  pins: z.array(z.unknown()).optional(),
  note: z.string().optional(),
});

/** What one PreCompact hook answered. */
interface HookAnswer extends z.infer<typeof answerSchema> {
  hook: string;
}

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

const returnedPin = z.object({ id: pinIdSchema, text: pinTextSchema });

type HookPin = Pick<Pin, 'id' | 'text'>;

/**
 * Writes what PreCompact hooks want pinned to the conversation document, in one batch of its own under the conversation
 * document's update time, and returns the run with the pins as they are now. A pin that stands already writes nothing.
 * What cannot be pinned is logged as WARNING and left out. Throws StoppedError, GuardLostError when others won every
 * try, StoreUnavailableError.
 */
async function storeHookPins(run: ClaimedRun, answers: readonly HookAnswer[]): Promise<ClaimedRun> {
  const usable = answers.map((answer) => ({ hook: answer.hook, pins: usablePins(run, answer) }));
  if (usable.every(({ pins }) => pins.length === 0)) return run;
  const { conversationId, conversation } = run.reading;
  let placed: Placed = { pins: conversation.value.pins, leftOut: [] };
  const { requestId } = run.request;
  await run.lease.commit(async (): Promise<Write[]> => {
    const now = refuseUnwanted(await readConversation(run.dependencies.store, conversationId), {
      generation: conversation.value.generation,
      requestId,
    });
    placed = place(run, now.value, usable);
    if (placed.pins === now.value.pins) return [];
    return [
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { pins: [...placed.pins], updateTime: run.dependencies.clock.now() },
        guard: { updateTime: now.updateTime },
      },
    ];
  });
  for (const { hook, pins } of placed.leftOut) warn(run, hook, { reason: 'PIN_BUDGET', pins });
  const pins = [...placed.pins];
  return {
    ...run,
    reading: {
      ...run.reading,
      conversation: { ...conversation, value: { ...conversation.value, pins } },
    },
  };
}

/** The pins that can be stored: half a surrogate pair would make every write of the conversation document fail. */
function usablePins(run: ClaimedRun, { hook, pins = [] }: HookAnswer): HookPin[] {
  const usable = pins.flatMap((pin) => {
    const read = safeParse(returnedPin, pin);
    return read.success ? [read.data] : [];
  });
  warn(run, hook, { reason: 'UNUSABLE', pins: pins.length - usable.length });
  return usable;
}

interface Placed {
  pins: readonly Pin[];
  leftOut: { hook: string; pins: number }[];
}

/** All hooks' pins put to those of a conversation document, in the order in which the hooks ran. */
function place(
  run: ClaimedRun,
  conversation: Conversation,
  returned: readonly { hook: string; pins: HookPin[] }[],
): Placed {
  const budget = pinBudget(run.reading.policy, conversation.context);
  let pins: readonly Pin[] = conversation.pins;
  const leftOut: Placed['leftOut'] = [];
  for (const each of returned) {
    const placed = withHookPins(pins, each.pins, budget);
    pins = placed.pins;
    leftOut.push({ hook: each.hook, pins: placed.leftOut.length });
  }
  return { pins, leftOut };
}

/** Tells the operator, without any text; nothing stops. */
function warn(run: ClaimedRun, hook: string, leftOut: { reason: string; pins: number }) {
  if (leftOut.pins === 0) return;
  const { conversationId } = run.reading;
  const fields = { conversationId, hook, ...leftOut };
  run.dependencies.logger.log('WARNING', 'compaction_hook_pins_left_out', fields);
}
