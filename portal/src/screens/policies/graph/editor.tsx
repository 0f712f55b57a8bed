/** The editor of a drawn policy: its drawing, its outline, and the form of the node that is open. */
import { Button } from '@mantine/core';
import { useTexts } from '../../../core/texts.ts';
import { Icon, Notice } from '../../../ui/index.ts';
import type { GraphProps } from '../graph-slot.tsx';
import { Canvas } from './canvas.tsx';
import { changeNode, isPlaced, unplaceNodes } from './change.ts';
import { ActionsContext } from './context.ts';
import { nodeOf } from './model.ts';
import { NodeForm } from './node-form.tsx';
import { Outline } from './outline.tsx';
import { texts } from './texts.ts';
import { useEditor } from './use-editor.ts';
import './graph.css';

export default function GraphEditor(props: GraphProps) {
  const edited = useEditor(props);
  const { graph, now, change, drawn, open, join, actions } = edited;
  const node = nodeOf(graph, open);
  return (
    <ActionsContext value={actions}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys for all that is in it; each has its button */}
      <div
        className={node ? 'graph-editor with-form' : 'graph-editor'}
        ref={edited.box}
        tabIndex={-1}
        onKeyDown={edited.onKeyDown}
      >
        {!props.readOnly && (
          <Tools {...edited} isPlaced={isPlaced(graph)} onArrange={() => change(unplaceNodes(graph))} />
        )}
        {drawn.rest.length > 0 && (
          <Notice tone="bad">
            {drawn.rest.map(({ pointer, detail }) => (
              <p key={pointer + detail}>
                <code>{pointer}</code> {detail}
              </p>
            ))}
          </Notice>
        )}
        <div className="graph-parts">
          <Outline {...drawn} />
          <div className="graph-canvas">
            <Canvas drawn={drawn} onPlace={edited.place} onConnect={join} />
          </div>
          {node && (
            <NodeForm
              {...{ graph, node, vocabulary: edited.vocabulary, problems: drawn.problems.get(node.id) ?? [] }}
              onChange={(part, field) => change(changeNode(now(), node.id, part), field && `${node.id} ${field}`)}
              onRename={(id) => edited.rename(node.id, id)}
              onConnect={join}
              onRemove={() => edited.remove(node.id)}
              onClose={edited.close}
            />
          )}
        </div>
        <p className="visually-hidden" role="status">
          {edited.said}
        </p>
      </div>
    </ActionsContext>
  );
}

type ToolsProps = {
  mayUndo: boolean;
  mayRedo: boolean;
  undo: () => void;
  redo: () => void;
  isPlaced: boolean;
  onArrange: () => void;
};

function Tools({ mayUndo, mayRedo, undo, redo, isPlaced: isMoved, onArrange }: ToolsProps) {
  const t = useTexts(texts);
  // Not `disabled`: the button that is pressed would lose the focus, and with it the keys.
  const common = (isOn: boolean) =>
    ({
      variant: 'default',
      size: 'compact-sm',
      ...(!isOn && { 'data-disabled': true, 'aria-disabled': true }),
    }) as const;
  return (
    <div className="row">
      <Button {...common(mayUndo)} leftSection={<Icon name="undo" />} onClick={undo}>
        {t.undo}
      </Button>
      <Button {...common(mayRedo)} onClick={redo}>
        {t.redo}
      </Button>
      <Button {...common(isMoved)} title={t.arrangeAbout} onClick={() => isMoved && onArrange()}>
        {t.arrange}
      </Button>
      <span className="dim graph-keys">{t.keys}</span>
    </div>
  );
}
