import { Fragment } from 'preact';
import type { SnapshotItemView } from '#shared/wire/resources/compaction.ts';
import type { App } from '#web/state/app.ts';
import { isCarried, isFrom, type Detail, type Lit } from '#web/state/context/provenance.ts';
import { UNSAID_MARK } from '#web/state/report.ts';
import { nameIn } from '#web/text/languages.ts';
import { Button } from '../controls.tsx';

interface ItemsOf {
  app: App;
  detail: Detail;
  lit: Lit;
}

const isLit = (item: SnapshotItemView, lit: Lit['value']): boolean =>
  lit.item === item.id || (lit.seq !== undefined && isFrom(item, lit.seq));

/** A text whose marks tell what they mean. */
function MarkedText({ app, text }: { app: App; text: string }) {
  const [head, ...rest] = text.split(UNSAID_MARK);
  return (
    <span class="statement-text">
      {head}
      {rest.map((piece, at) => (
        <Fragment key={at}>
          <abbr class="unsaid" title={app.texts.value.detail.unsaid}>
            {UNSAID_MARK}
          </abbr>
          {piece}
        </Fragment>
      ))}
    </span>
  );
}

/** The turns that a statement comes from, in words; empty where it names none. */
function sourcesText(app: App, { sources, through }: SnapshotItemView): string {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const [first] = sources;
  if (first === undefined) return '';
  if (through === undefined) return texts.sources(sources.map(count).join(', '), sources.length);
  const stretch = first === through ? count(first) : `${count(first)}–${count(through)}`;
  return texts.sources(stretch, through - first + 1);
}

function Item({ app, detail, lit, item }: ItemsOf & { item: SnapshotItemView }) {
  const texts = app.texts.value.detail;
  const sources = sourcesText(app, item);
  const light = () => (lit.value = { item: item.id });
  const putOut = () => (lit.value = {});
  return (
    <li>
      <Button
        class="statement"
        data-lit={isLit(item, lit.value)}
        data-importance={item.importance}
        onMouseEnter={light}
        onFocus={light}
        onClick={light}
        onMouseLeave={putOut}
        onBlur={putOut}
      >
        <MarkedText app={app} text={item.text} />
        {item.quote !== undefined && item.quote !== item.text && (
          <q class="statement-quote">{item.quote}</q>
        )}
        <span class="statement-notes">
          {sources !== '' && <span class="chip figure">{sources}</span>}
          {item.status && <span class="chip">{texts.status[item.status]}</span>}
          {item.by === 'code' && <span class="chip">{texts.wordForWord}</span>}
          {isCarried(item, detail.compaction) && <span class="chip">{texts.carried}</span>}
        </span>
      </Button>
    </li>
  );
}

/** Whether a topic is the first of its day: the timeline shows each day once. */
const beginsDay = (items: readonly SnapshotItemView[], at: number): boolean =>
  items[at]?.section === 'timeline' &&
  items[at].at !== undefined &&
  items[at].at !== items[at - 1]?.at;

/** Statements by section, in the order in which the snapshot has them. */
function Sections({ items, ...input }: ItemsOf & { items: readonly SnapshotItemView[] }) {
  const names = input.app.texts.value.detail.sections;
  return (
    <>
      {[...Map.groupBy(items, ({ section }) => section)].map(([section, own]) => (
        <section key={section}>
          <h4>{nameIn(names, section)}</h4>
          <ul>
            {own.map((item, at) => (
              <Fragment key={item.id}>
                {beginsDay(own, at) && <li class="day figure">{item.at}</li>}
                <Item {...input} item={item} />
              </Fragment>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** What was kept, statement by statement. */
export function SnapshotItems(input: ItemsOf) {
  const texts = input.app.texts.value.detail;
  const items = input.detail.compaction.snapshot ?? [];
  const working = items.filter(({ layer }) => layer === 'working');
  const archive = items.filter(({ layer }) => layer === 'archive');
  if (items.length === 0) return <p class="quiet">{texts.none}</p>;
  return (
    <div class="detail-list snapshot-items">
      {items.some(({ text }) => text.includes(UNSAID_MARK)) && (
        <p class="quiet">
          <span class="unsaid">{UNSAID_MARK}</span> {texts.unsaidLegend}
        </p>
      )}
      <Sections {...input} items={working} />
      {archive.length > 0 && (
        <details>
          <summary>
            {texts.archive}{' '}
            <span class="figure">({input.app.figures.value.count(archive.length)})</span>
          </summary>
          <Sections {...input} items={archive} />
        </details>
      )}
    </div>
  );
}
