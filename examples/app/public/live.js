// Puts events on top of the list as they come.
const list = document.getElementById('events');
const none = document.getElementById('none');

new EventSource('/events/stream').addEventListener('message', ({ data }) => {
  const { id, type, time, subject = '' } = JSON.parse(data);
  if (list.querySelector(`[data-id="${CSS.escape(id)}"]`) !== null) return;
  const item = document.createElement('li');
  item.dataset.id = id;
  for (const [name, text] of [
    ['time', new Date(time).toISOString().slice(11, 19)],
    ['strong', type],
    ['span', subject],
  ]) {
    const element = document.createElement(name);
    element.textContent = text;
    item.append(element);
  }
  list.prepend(item);
  none.hidden = true;
});
