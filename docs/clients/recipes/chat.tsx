import { Chat, useChat } from '@ai-sdk/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { useRef, useState } from 'react';
import {
  catchUp,
  readError,
  retry,
  shownParts,
  stopAnswer,
  transportOptions,
  type Backend,
} from './use-chat';

/** A conversation of the page: make it once, outside of what renders. `messages`: what `loadMessages` gave. */
export const createChat = (
  backend: Backend,
  { id, messages }: { id: string; messages: UIMessage[] },
): Chat<UIMessage> =>
  new Chat({
    id,
    messages,
    generateId: () => crypto.randomUUID(),
    transport: new DefaultChatTransport(transportOptions(backend, { aiSdk: 7 })), // your `ai`
  });

const textOf = ({ parts }: UIMessage) =>
  shownParts(parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

export function ChatPage({ backend, chat }: { backend: Backend; chat: Chat<UIMessage> }) {
  // The hook renders; `chat` acts, and always knows its newest state.
  const { messages, status, error } = useChat({ chat, resume: true });
  const [text, setText] = useState('');
  /** The message of the user that the next one takes the place of. */
  const [edited, setEdited] = useState<string>();
  const files = useRef<HTMLInputElement>(null);
  const isBusy = status === 'submitted' || status === 'streaming';

  const send = async () => {
    const picked = files.current?.files;
    const sent = chat.sendMessage({
      text,
      ...(picked?.length && { files: picked }),
      ...(edited !== undefined && { messageId: edited }),
    });
    setText('');
    setEdited(undefined);
    if (files.current) files.current.value = '';
    await sent;
    await retry(chat);
  };
  const edit = (message: UIMessage) => {
    setEdited(message.id);
    setText(textOf(message));
  };

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          <p>{textOf(message)}</p>
          {message.role === 'user' && <button onClick={() => edit(message)}>Edit</button>}
        </article>
      ))}
      {error && <p role="alert">{readError(error).message}</p>}
      {error && <button onClick={() => void catchUp(chat)}>Try again</button>}
      {isBusy && <button onClick={() => void stopAnswer(backend, chat)}>Stop</button>}
      <button disabled={isBusy} onClick={() => void chat.regenerate().then(() => retry(chat))}>
        Answer anew
      </button>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        <input aria-label="Files" type="file" multiple ref={files} />
        <button disabled={isBusy}>Send</button>
      </form>
    </main>
  );
}
