import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { ToolResult } from '#web/api/chat-api.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { textOfMessage } from '#web/state/turn-pages.ts';
import { Button, submit } from '../controls.tsx';
import { ToolCall } from './prose.tsx';
import { completeResults, parseOutput, type OpenCall } from './tool-results.ts';

interface CallForm {
  call: OpenCall;
  give: (result: ToolResult) => void;
}

/** The app has run the function, or will not. */
function OutputForm({ call: { callId, name, args }, give }: CallForm) {
  const typed = useSignal('{}');
  return (
    <form onSubmit={submit(() => give({ callId, output: parseOutput(typed.value) }))}>
      <ToolCall name={name} input={args} />
      <label>
        What does {name} give?
        <textarea
          rows={3}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
      </label>
      <p class="bar">
        <Button type="submit" class="button" text="Answer the model" />
        <Button
          class="button"
          text="Decline"
          onClick={() => give({ callId, error: 'The user declined.' })}
        />
      </p>
    </form>
  );
}

/** A tool of the server waits for the user. */
const ApprovalForm = ({ call: { callId, name, args }, give }: CallForm) => (
  <div>
    <ToolCall name={name} input={args} />
    <p class="bar">
      <Button class="button" text="Allow" onClick={() => give({ callId, approved: true })} />
      <Button class="button" text="Decline" onClick={() => give({ callId, approved: false })} />
    </p>
  </div>
);

/** What a turn waits for, answered here: the answer goes on when the last call has its result. */
export function OpenCalls(props: { conversation: OpenConversation; user: MessageView }) {
  const { conversation, user } = props;
  const calls = useSignal<readonly OpenCall[]>([]);
  const given = useSignal<ReadonlyMap<string, ToolResult>>(new Map());
  const { turnId, id: messageId } = user;
  useEffect(() => {
    void conversation.attempt(async () => {
      calls.value = (await conversation.api.turn(turnId)).openCalls ?? [];
    });
  }, [turnId]);
  const give = (result: ToolResult): void => {
    given.value = new Map([...given.value, [result.callId, result]]);
    const results = completeResults(calls.value, given.value);
    if (results === undefined) return;
    const text = textOfMessage(user);
    conversation.answers.ask({ kind: 'results', messageId, text, turnId, results });
  };
  return (
    <div class="open-calls small">
      <p class="turn-status">The model asks this app, and waits.</p>
      {calls.value
        .filter(({ callId }) => !given.value.has(callId))
        .map((call) => {
          const Form = call.wants === 'output' ? OutputForm : ApprovalForm;
          return <Form key={call.callId} call={call} give={give} />;
        })}
    </div>
  );
}
