import { useSignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { Button } from '../controls.tsx';
import { toolTexts } from '../tools.ts';
import type { Player } from './player.ts';
import type { PlayableRecording } from './recording.ts';

interface PlayerProps {
  app: App;
  player: Player;
}

function Progress({ app, player }: PlayerProps) {
  const texts = toolTexts(app).player;
  const { count } = app.figures.value;
  const state = player.state.value;
  if (state === 'idle') return null;
  const total = player.recording.value?.messages.length ?? 0;
  const position = player.position.value;
  const progress = texts.progress(count(position), count(total));
  const compactions = app.open.value.compactions.value.filter(
    ({ kind, generation }) => kind === 'compaction' && generation !== undefined,
  );
  return (
    <div class="player-progress" data-state={state}>
      <progress max={total} value={position} aria-label={progress} />
      <p role="status">
        {texts.state[state]} <span class="figure">{progress}</span>
      </p>
      <p class="figure player-compactions">{texts.compactions(count(compactions.length))}</p>
    </div>
  );
}

/** Play, pause, stop, and how far it is. */
export function PlayerControls(props: PlayerProps & { chosen: PlayableRecording | undefined }) {
  const { app, player, chosen } = props;
  const texts = toolTexts(app).player;
  const problem = useSignal<string | undefined>(undefined);
  const state = player.state.value;
  const isPaused = state === 'paused';
  const isUnderWay = state === 'playing' || isPaused;
  const begin = async (): Promise<void> => {
    problem.value = undefined;
    try {
      if (chosen) await player.play(chosen);
    } catch (error) {
      problem.value = String(error);
    }
  };
  return (
    <>
      <div class="tool-bar">
        <Button
          class="button primary"
          text={texts.play}
          disabled={isUnderWay || !chosen}
          onClick={() => void begin()}
        />
        <Button
          class="button"
          text={isPaused ? texts.resume : texts.pause}
          disabled={!isUnderWay}
          onClick={isPaused ? player.resume : player.pause}
        />
        <Button class="button" text={texts.stop} disabled={!isUnderWay} onClick={player.stop} />
      </div>
      {problem.value !== undefined && <p role="alert">{problem.value}</p>}
      <Progress app={app} player={player} />
    </>
  );
}
