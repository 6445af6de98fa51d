import { deviceTool, hasDeviceTool, withDeviceTool } from '#web/state/app-tools.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { LEAST_THRESHOLD_TOKENS } from '#web/state/context/compaction-steps.ts';

/** From how many tokens on this conversation is compacted; deployments let users lower it. */
export function ThresholdField({ app, conversation }: ConversationProps) {
  const texts = app.texts.value.inspector;
  const thresholdTokens = conversation.context.value?.thresholdTokens;
  if (!conversation.view.value || !thresholdTokens) return null;
  const change = (wanted: number): void => {
    if (!(wanted >= LEAST_THRESHOLD_TOKENS) || wanted === thresholdTokens) return;
    const settings = { thresholdTokens: Math.round(wanted) };
    const send = () => conversation.api.change({ settings }, 'settings.thresholdTokens');
    void conversation.change(send, true);
  };
  return (
    <label class="threshold">
      <span>{texts.thresholdField}</span>
      <input
        type="number"
        min={LEAST_THRESHOLD_TOKENS}
        step={100}
        value={thresholdTokens}
        title={texts.thresholdHint}
        onChange={({ currentTarget }) => change(currentTarget.valueAsNumber)}
      />
    </label>
  );
}

/** Whether the model of this conversation may ask this page; deployments let users declare tools. */
export function DeviceToolField({ app, conversation }: ConversationProps) {
  const view = conversation.view.value;
  if (!view) return null;
  return (
    <label class="device-tool">
      <input
        type="checkbox"
        checked={hasDeviceTool(view)}
        onChange={({ currentTarget }) => {
          const tools = withDeviceTool(view, currentTarget.checked);
          void conversation.change(() => conversation.api.change({ tools }, 'tools'), true);
        }}
      />
      <span>{app.texts.value.inspector.deviceTool(deviceTool.name)}</span>
    </label>
  );
}
