import { useEffect } from 'preact/hooks';
import { ConversationsPane } from './panes/conversations/conversations-pane.tsx';
import { DetailDialog } from './panes/detail/detail-dialog.tsx';
import { EventsPane } from './panes/events/events-pane.tsx';
import { InspectorPane } from './panes/inspector/inspector-pane.tsx';
import { TranscriptPane } from './panes/transcript/transcript-pane.tsx';
import { Button } from './panes/controls.tsx';
import type { App, PaneName } from './state/app.ts';

const panes: readonly PaneName[] = ['conversations', 'transcript', 'inspector', 'events'];

/** Which pane a narrow screen shows. */
function PaneSwitch({ app }: { app: App }) {
  const texts = app.texts.value;
  return (
    <nav class="pane-switch" aria-label={texts.product}>
      {panes.map((pane) => (
        <Button
          key={pane}
          text={texts.panes[pane]}
          aria-current={app.pane.value === pane ? 'page' : undefined}
          onClick={() => (app.pane.value = pane)}
        />
      ))}
    </nav>
  );
}

/** The four panes; on narrow screens one at a time. */
export function Page({ app }: { app: App }) {
  const conversation = app.open.value;
  const title = app.nameOf({ id: conversation.id, title: conversation.view.value?.title });
  useEffect(() => {
    document.title = title ? `${title} – Recap` : 'Recap';
  }, [title]);
  return (
    <div class="page" data-pane={app.pane.value}>
      <ConversationsPane app={app} />
      <TranscriptPane key={conversation.id} app={app} conversation={conversation} />
      <div class="side">
        <InspectorPane app={app} conversation={conversation} />
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
