/** What cards, edges and the outline can ask of the editor. */
import { createContext, useContext } from 'react';
import type { Addition } from './change.ts';
import type { GraphNode, Way } from './model.ts';
import { en, type Texts } from './texts.en.ts';

export type Actions = {
  readOnly: boolean;
  t: Texts;
  summary: (node: GraphNode) => string;
  add: (way: Way, addition: Addition) => void;
  open: (id: string) => void;
};
const nothing = () => {};
export const ActionsContext = createContext<Actions>({
  ...{ readOnly: true, t: en, summary: ({ id }: GraphNode) => id, add: nothing, open: nothing },
});
export const useActions = () => useContext(ActionsContext);
