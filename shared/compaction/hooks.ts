import type { Trigger } from '../conversation/head.ts';

/** What a hook learns: who asked, how large the context is, which turns go. Never any text of them. */
export interface CompactionHookEvent {
  conversationId: string;
  requestId: string;
  trigger: Trigger;
  generation: number;
  /** First and last turn of the range. */
  from: number;
  upTo: number;
  turnsFolded: number;
  /** Estimated tokens of the context before. */
  beforeTokens: number;
}

interface Hook<Event, Answer> {
  name: string;
  /** A required hook that fails stops the compaction; any other failure is logged. Default false. */
  required?: boolean;
  run(event: Event, signal: AbortSignal): Promise<Answer>;
}

/** Runs after the decision to compact, before the model is called. A veto ends it as NOOP, VETOED. */
export type PreCompactHook = Hook<CompactionHookEvent, { veto: boolean } | undefined>;

export interface CompactionHookResult extends CompactionHookEvent {
  state: string;
  afterTokens: number;
  reason?: string;
}

/** Runs after the outcome of a compaction that a PreCompact hook could have seen. */
export type PostCompactHook = Hook<CompactionHookResult, undefined>;

/** Hooks in the order in which they run. */
export interface CompactionHooks {
  preCompact: readonly PreCompactHook[];
  postCompact: readonly PostCompactHook[];
}

export const noHooks: CompactionHooks = { preCompact: [], postCompact: [] };

/** How long one hook may take. */
export const HOOK_TIMEOUT_MS = 10_000;
