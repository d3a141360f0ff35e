# Fails where CMake is too old for CMakeLists.txt.
cmake_minimum_required(VERSION 3.25)
