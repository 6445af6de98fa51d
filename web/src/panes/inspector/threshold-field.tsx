import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';

/** The least that a conversation may have (`settings.thresholdTokens`). */
const LEAST_TOKENS = 1_000;

/** From how many tokens on this conversation is compacted; deployments let users lower it. */
export function ThresholdField(given: { app: App; conversation: OpenConversation }) {
  const { app, conversation } = given;
  const texts = app.texts.value.inspector;
  const thresholdTokens = conversation.context.value?.thresholdTokens;
  if (!conversation.view.value || !thresholdTokens) return null;
  const change = (wanted: number): void => {
    if (!(wanted >= LEAST_TOKENS) || wanted === thresholdTokens) return;
    const settings = { thresholdTokens: Math.round(wanted) };
    void conversation.attempt(async () => {
      await conversation.api.change({ settings }, 'settings.thresholdTokens');
      await conversation.refresh(true);
    });
  };
  return (
    <label class="threshold">
      <span>{texts.thresholdField}</span>
      <input
        type="number"
        min={LEAST_TOKENS}
        step={100}
        value={thresholdTokens}
        title={texts.thresholdHint}
        onChange={({ currentTarget }) => change(currentTarget.valueAsNumber)}
      />
    </label>
  );
}
