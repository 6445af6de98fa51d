import { useEffect } from 'preact/hooks';
import { DetailDialog } from './panes/compactions/detail-dialog.tsx';
import { ContextPane } from './panes/context/context-pane.tsx';
import { Button } from './panes/controls.tsx';
import { ConversationsPane } from './panes/conversations-pane.tsx';
import { EventsPane } from './panes/events-pane.tsx';
import { TranscriptPane } from './panes/transcript/transcript-pane.tsx';
import type { App, PaneName } from './state/app.ts';

const panes: readonly (readonly [PaneName, string])[] = [
  ['conversations', 'Chats'],
  ['transcript', 'Transcript'],
  ['context', 'Context'],
  ['events', 'Events'],
];

/** Which pane a narrow screen shows. */
const PaneSwitch = ({ app }: { app: App }) => (
  <nav class="pane-switch" aria-label="Recap">
    {panes.map(([pane, name]) => (
      <Button
        key={pane}
        text={name}
        aria-current={app.pane.value === pane ? 'page' : undefined}
        onClick={() => (app.pane.value = pane)}
      />
    ))}
  </nav>
);

/** The four panes; on narrow screens one at a time. */
export function Page({ app }: { app: App }) {
  const conversation = app.open.value;
  const title = app.nameOf({ id: conversation.id, title: conversation.state.value.title });
  useEffect(() => {
    document.title = title ? `${title} – Recap` : 'Recap';
  }, [title]);
  return (
    <div class="page" data-pane={app.pane.value}>
      <ConversationsPane app={app} />
      <TranscriptPane key={conversation.id} app={app} conversation={conversation} />
      <div class="side">
        <ContextPane conversation={conversation} />
        <EventsPane app={app} conversation={conversation} />
      </div>
      <PaneSwitch app={app} />
      {app.detail.value !== undefined && (
        <DetailDialog
          key={app.detail.value}
          app={app}
          conversation={conversation}
          generation={app.detail.value}
        />
      )}
    </div>
  );
}
