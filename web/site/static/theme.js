// Before anything is shown: the theme that the reader has chosen, where Furo stores it.
document.body.dataset.theme = localStorage.getItem("theme") || "auto";
