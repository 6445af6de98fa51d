import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { policyConstants } from '#shared/compaction/policy-constants.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { THRESHOLD_MIN_TOKENS } from '#shared/wire/limits.ts';
import { readLoops } from '../loops/eval-loops-score.ts';
import type { Recording } from '../replay/recording.ts';
import type { ReplayedDialogue } from './tool-figures.ts';
import { replayTools } from './tool-replay.ts';
import { mostRounds, toolScriptOf, type ToolScript } from './tool-script.ts';

/** As the service takes them (MAX_PART_BYTES). */
const PART_MAX_BYTES = 32 * 1024;

/** What an answer of the profile `assistant` may have; who needs more is a coding agent (TOOL_ROUNDS). */
const ASSISTANT_ROUNDS = 10;

/** A dialogue comes to its threshold about this many times. */
const THRESHOLDS = 4;

/** A quarter of the dialogue, so that it is compacted; undefined where the product's own is less. */
function smallThreshold({ turns }: Recording): number | undefined {
  const tokens = turns.reduce(
    (sum, content) => sum + estimateContentTokens(content, 'character-class'),
    0,
  );
  const wanted = Math.max(THRESHOLD_MIN_TOKENS, Math.floor(tokens / THRESHOLDS));
  return wanted < policyConstants.thresholdTokens.value ? wanted : undefined;
}

export interface DialogueToReplay {
  recording: Recording;
  script: ToolScript;
}

/** The dialogues of a file that are wanted, as far as they are wanted. */
export const dialoguesOf = (
  recordings: readonly Recording[],
  wanted: { ids: readonly string[]; limit: number; turns: number },
): DialogueToReplay[] =>
  recordings
    .filter(({ id }) => wanted.ids.length === 0 || wanted.ids.includes(id))
    .slice(0, wanted.limit)
    .map((recording) => {
      const script = toolScriptOf(recording, PART_MAX_BYTES);
      return { recording, script: { ...script, turns: script.turns.slice(0, wanted.turns) } };
    });

/** Replays one dialogue and lets the detectors of loops judge it. */
export async function replayDialogue(
  { recording, script }: DialogueToReplay,
  options: { fakeGemini: FakeGemini; thresholdTokens?: number | undefined; onTurn?: () => void },
): Promise<ReplayedDialogue> {
  const { fakeGemini, onTurn } = options;
  const replay = await replayTools({
    id: recording.id,
    script,
    systemInstruction: recording.system,
    profile: mostRounds(script) > ASSISTANT_ROUNDS ? 'coding' : 'assistant',
    thresholdTokens: options.thresholdTokens ?? smallThreshold(recording),
    fakeGemini,
    ...(onTurn && { onTurn }),
  });
  const { callAlarms, chantAlarms } = readLoops(recording);
  return { ...replay, loops: { callAlarms, chantAlarms } };
}
