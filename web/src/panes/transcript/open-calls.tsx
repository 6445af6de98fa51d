import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { ToolResult } from '#web/api/chat-api.ts';
import { completeResults, parseOutput, type OpenCall, deviceTool } from '#web/state/app-tools.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { textOfMessage } from '#web/state/turn-pages.ts';
import type { Texts } from '#web/text/en.ts';
import { Button, submit } from '../controls.tsx';
import { ToolCall } from './message-parts.tsx';

/** What the page would answer by itself; an empty object where only the user knows. */
const proposedOutput = (call: Pick<OpenCall, 'name'>): object =>
  call.name === deviceTool.name
    ? {
        language: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        window: `${innerWidth} × ${innerHeight} px`,
        colours: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
      }
    : {};

interface CallForm {
  call: OpenCall;
  texts: Texts['transcript'];
  give: (result: ToolResult) => void;
}

/** The app has run the function, or will not. */
function OutputForm({ call, texts, give }: CallForm) {
  const typed = useSignal(JSON.stringify(proposedOutput(call), null, 2));
  const { callId, name } = call;
  return (
    <form onSubmit={submit(() => give({ callId, output: parseOutput(typed.value) }))}>
      <label>
        {texts.toolOutput(name)}
        <textarea
          rows={6}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
      </label>
      <p class="turn-way-on">
        <Button type="submit" class="button small" text={texts.giveOutput} />
        <Button
          class="button small"
          text={texts.decline}
          onClick={() => give({ callId, error: 'The user declined.' })}
        />
      </p>
    </form>
  );
}

/** A tool of the server waits for the user. */
const ApprovalForm = ({ call: { callId, name, args }, texts, give }: CallForm) => (
  <div>
    <ToolCall name={name} input={args} />
    <p class="turn-way-on">
      <Button
        class="button small"
        text={texts.allow}
        onClick={() => give({ callId, approved: true })}
      />
      <Button
        class="button small"
        text={texts.decline}
        onClick={() => give({ callId, approved: false })}
      />
    </p>
  </div>
);

/** What a turn waits for, answered here: the answer goes on when the last call has its result. */
export function OpenCalls({ app, conversation, user }: ConversationProps & { user: MessageView }) {
  const texts = app.texts.value.transcript;
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
    <div class="open-calls">
      <p class="turn-status">{texts.awaitingTool}</p>
      {calls.value
        .filter(({ callId }) => !given.value.has(callId))
        .map((call) => {
          const Form = call.wants === 'output' ? OutputForm : ApprovalForm;
          return <Form key={call.callId} call={call} texts={texts} give={give} />;
        })}
    </div>
  );
}
