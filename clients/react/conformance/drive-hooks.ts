import { createElement, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { drive, type Platform, type Shown } from '../../typescript/conformance/drive.ts';
import { createRecap, type Recap } from '../../typescript/src/index.ts';
import { RecapProvider, useChat, useConversations } from '../src/index.ts';

/** Shows what a hook gives, in a tree of its own, mounted twice as StrictMode does. */
function show<State>(recap: Recap, useShown: () => State): Shown<State> {
  let shown: State | undefined;
  function Reader() {
    shown = useShown();
    return null;
  }
  const root = createRoot(document.createElement('div'));
  const provided = createElement(RecapProvider, { recap }, createElement(Reader));
  flushSync(() => root.render(createElement(StrictMode, null, provided)));
  return {
    state: () => {
      if (shown === undefined) throw new Error('React has not rendered it');
      return shown;
    },
    leave: () => root.unmount(),
  };
}

/** A client of the conformance suite whose states come through the hooks. */
export const driveHooks = (openStore: Platform['openStore']): Promise<void> =>
  drive(location.hash.slice(1), {
    createRecap,
    openStore,
    showChat: (recap, { id }) => show(recap, () => useChat(id)),
    showList: (recap, _, name) => show(recap, () => useConversations(name)),
  });
