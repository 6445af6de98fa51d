import type { SnapshotItemView } from '#shared/wire/resources/compaction.ts';
import type { App } from '#web/state/app.ts';
import { isCarried, type Detail, type Lit } from '#web/state/context/provenance.ts';
import { nameIn } from '#web/text/languages.ts';
import { Button } from '../controls.tsx';

interface ItemsOf {
  app: App;
  detail: Detail;
  lit: Lit;
}

const isLit = (item: SnapshotItemView, lit: Lit['value']): boolean =>
  lit.item === item.id || (lit.seq !== undefined && item.sources.includes(lit.seq));

function Item({ app, detail, lit, item }: ItemsOf & { item: SnapshotItemView }) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const turns = item.sources.map(count).join(', ');
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
        <span class="statement-text">{item.text}</span>
        {item.quote !== undefined && item.quote !== item.text && (
          <q class="statement-quote">{item.quote}</q>
        )}
        <span class="statement-notes">
          {turns !== '' && (
            <span class="chip figure">{texts.sources(turns, item.sources.length)}</span>
          )}
          {item.status && <span class="chip">{texts.status[item.status]}</span>}
          {item.by === 'code' && (
            <span class="chip">
              {detail.compaction.strategy === 'fallback' ? texts.wordForWord : texts.verbatim}
            </span>
          )}
          {isCarried(item, detail.compaction) && <span class="chip">{texts.carried}</span>}
        </span>
      </Button>
    </li>
  );
}

/** Statements by section, in the order in which the snapshot has them. */
function Sections({ items, ...input }: ItemsOf & { items: readonly SnapshotItemView[] }) {
  const names = input.app.texts.value.detail.sections;
  return (
    <>
      {[...Map.groupBy(items, ({ section }) => section)].map(([section, own]) => (
        <section key={section}>
          <h4>{nameIn(names, section)}</h4>
          <ul>
            {own.map((item) => (
              <Item key={item.id} {...input} item={item} />
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
