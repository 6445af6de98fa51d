import type { SentView } from '#shared/compaction/shrunken-view.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Repairs } from '#shared/conversation/repair/repairs.ts';
import type { Rounds, Turn, TurnUsage } from '#shared/conversation/documents/turn.ts';
import type { AppError } from '#shared/errors.ts';
import type { Grounding } from '#shared/grounding/grounding.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';

/** How far a turn has come that is answered in more than one call of the model. */
export interface TurnProgress {
  /** Model and tool contents so far; calls that nobody has answered are open among them. */
  contents: readonly Content[];
  /** Absent while there was no call. */
  rounds?: Rounds | undefined;
  /** The bill of all calls of the model, those of earlier attempts included. */
  usage?: TurnUsage | undefined;
  /** What the answer rests on so far. */
  grounding?: Grounding | undefined;
  /** What was mended of the history in the last call that needed it. */
  repairs?: Repairs | undefined;
  /** What the model could not read any more: the turn is answered without it. */
  leftOutFiles?: Turn['leftOutFiles'];
}

/** What a producer begins with. */
export interface ProgressAtStart extends TurnProgress {
  /** Part of `usage` that is charged already: the turn has waited for the app. */
  settled?: TurnUsage | undefined;
  /** Id of the next frame of this attempt, which has some already where the turn goes on after a pause. */
  nextFrameId: number;
  /** The stream of this attempt has shown the rounds already. */
  isResumed: boolean;
}

/** What came of the turn here: a part of it is always there, and an error where there was one. */
export interface TurnAnswer extends TurnProgress {
  finishReason?: string | undefined;
  error?: AppError | undefined;
  /** The last call of the model reported this, and nothing came after its answer. */
  report?: ModelUsage | undefined;
  /** A call of the model here may be billed, and told no figures. */
  isUnreported: boolean;
  /** Contents that this call was sent. */
  sentContents: number;
  /** How the newest prompt stands to the context. */
  sent: SentView;
  /** Open calls are the app's, or wait for the user. */
  isWaiting: boolean;
}
