import {
  AnswerError,
  editMessage,
  giveResults,
  regenerate,
  sendMessage,
  type Answer,
  type Backend,
} from '#docs/clients/recipes/react-native.ts';
import { Recap, RecapError } from '#docs/clients/recipes/recap.ts';
import { ReactNativeEventSource } from '#test/support/wire/react-native-sse.ts';
import type { ClientSetup, NativeClient, Outgoing, Shown } from './native-client.ts';

/** The recipe keeps what it shows; a test sees as much as of any other. */
const shownOf = (answer: Answer): Shown => ({
  text: answer.text,
  turnId: String(answer.metadata['turnId']),
  finishReason: answer.finishReason,
  isStopped: answer.isStopped === true,
  hasContext: answer.context !== undefined,
  calls: answer.calls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, input })),
});

/** The reason of a refusal, as the page tells apps to read it. */
function withReason(error: unknown): Error {
  return error instanceof RecapError || error instanceof AnswerError
    ? new Error(`${error.reason}: ${error.message}`)
    : new Error(String(error));
}

const told = <Result>(result: Promise<Result>): Promise<Result> =>
  result.catch((error: unknown) => Promise.reject(withReason(error)));

const backendOf = ({
  baseUrl,
  token,
  renewedToken = token,
  appCheckToken,
}: ClientSetup): Backend => ({
  baseUrl,
  getIdToken: (renew) => Promise.resolve(renew === true ? renewedToken : token),
  ...(appCheckToken !== undefined && { getAppCheckToken: () => Promise.resolve(appCheckToken) }),
  EventSource: ReactNativeEventSource,
});

/** The recipes for React Native, over an imitation of its XMLHttpRequest. */
export function openReactNative(setup: ClientSetup): NativeClient {
  const backend = backendOf(setup);
  const recap = new Recap(backend);
  /** Answers that wait for results, by their turn. */
  const waiting = new Map<string, Answer>();
  const shown = (answer: Promise<Answer>) =>
    told(
      answer.then((whole) => {
        waiting.set(shownOf(whole).turnId, whole);
        return shownOf(whole);
      }),
    );
  const showing = (show: (text: string) => void = () => undefined) => ({
    onChange: ({ text }: Answer) => show(text),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `upload` has given
  const withFiles = ({ files = [], ...message }: Outgoing) => ({ ...message, files: files as [] });
  return {
    send: (message, show) => shown(sendMessage(backend, withFiles(message), showing(show))),
    edit: ({ replaced, ...message }, show) =>
      shown(editMessage(backend, { ...withFiles(message), replaced }, showing(show))),
    regenerate: (answer) => shown(regenerate(backend, answer, showing())),
    giveResults: ({ conversationId, answer, results }) => {
      const begun = waiting.get(answer.turnId);
      if (!begun) throw new Error('no such answer');
      const given = { ...showing(), results };
      return shown(giveResults(backend, { conversationId, answer: begun }, given));
    },
    stop: async ({ conversationId, turnId }) => {
      await told(recap.stop(conversationId, turnId));
    },
    rename: async ({ conversationId, title }) => {
      await told(recap.rename(conversationId, title));
    },
    rate: async ({ conversationId, messageId, rating }) => {
      await told(recap.rate(conversationId, messageId, rating));
    },
    listConversations: async () => (await told(recap.listConversations())).conversations,
    listMessages: async (conversationId) =>
      (await told(recap.listMessages(conversationId))).messages,
    upload: ({ bytes, mimeType }) => told(recap.upload(new Blob([bytes], { type: mimeType }))),
  };
}
