import { deviceTool, hasDeviceTool, withDeviceTool } from '#web/state/app-tools.ts';
import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';

/** Whether the model of this conversation may ask this page; deployments let users declare tools. */
export function DeviceToolField(given: { app: App; conversation: OpenConversation }) {
  const { app, conversation } = given;
  const texts = app.texts.value.inspector;
  const view = conversation.view.value;
  if (!view) return null;
  return (
    <label class="device-tool">
      <input
        type="checkbox"
        checked={hasDeviceTool(view)}
        onChange={({ currentTarget }) => {
          const tools = withDeviceTool(view, currentTarget.checked);
          void conversation.attempt(async () => {
            await conversation.api.change({ tools }, 'tools');
            await conversation.refresh(true);
          });
        }}
      />
      <span>{texts.deviceTool(deviceTool.name)}</span>
    </label>
  );
}
